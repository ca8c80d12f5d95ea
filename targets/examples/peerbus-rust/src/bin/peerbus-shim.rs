//! Client and codec for a test harness: JSON Lines on stdin and stdout.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use peerbus::client::{Client, Config, Event, Refused};
use peerbus::envelope::Envelope;
use peerbus::{hex, lines};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::{mpsc, oneshot};

#[derive(Deserialize)]
struct Request {
    id: i64,
    verb: String,
    #[serde(default)]
    instance: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    op: String,
    #[serde(default)]
    args: Value,
}

/// What is no result.
enum No {
    Refused(String),
    Unsupported(String),
    Failed(String),
}

enum Instance {
    Codec,
    Client(Client),
}

#[tokio::main]
async fn main() {
    let mut instances = HashMap::new();
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = input.next_line().await {
        match serde_json::from_str::<Request>(&line) {
            Ok(request) => perform(&mut instances, request),
            Err(error) => eprintln!("not understood: {error}"),
        }
    }
}

fn perform(instances: &mut HashMap<String, Instance>, request: Request) {
    let Request {
        id,
        verb,
        instance,
        role,
        op,
        args,
    } = request;
    match verb.as_str() {
        "hello" => answer(id, Ok(hello())),
        "start" if instances.contains_key(&instance) => {
            answer(id, Err(No::Failed("that instance runs".into())));
        }
        "start" => match role.as_str() {
            "peerbus/codec" => {
                instances.insert(instance, Instance::Codec);
                answer(id, Ok(json!({})));
            }
            "peerbus/client" => start_client(instances, id, instance, &args),
            _ => answer(id, Err(No::Unsupported(format!("role {role}")))),
        },
        "do" => match instances.get(&instance) {
            Some(Instance::Codec) => answer(id, codec(&op, &args)),
            Some(Instance::Client(client)) => operate(client, id, &op, &args),
            None => answer(id, Err(No::Failed(format!("no instance {instance}")))),
        },
        "stop" => {
            instances.remove(&instance);
            answer(id, Ok(json!({})));
        }
        _ => answer(id, Err(No::Unsupported(format!("verb {verb}")))),
    }
}

fn hello() -> Value {
    json!({
        "name": "peerbus-rust",
        "version": env!("CARGO_PKG_VERSION"),
        "language": "rust",
        "protocol": 1,
        "roles": {
            "peerbus/client": ["cache_size", "backoff_ms", "kill", "profile:document"],
            "peerbus/codec": ["profile:document"],
        },
    })
}

fn answer(id: i64, result: Result<Value, No>) {
    let (key, value) = match result {
        Ok(value) => ("result", value),
        Err(No::Refused(why)) => ("refused", why.into()),
        Err(No::Unsupported(what)) => ("unsupported", what.into()),
        Err(No::Failed(why)) => ("failed", why.into()),
    };
    write(&json!({ "id": id, key: value }));
}

fn write(line: &Value) {
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    if written.is_err() {
        std::process::exit(0); // nobody listens any more
    }
}

fn text<'a>(args: &'a Value, name: &str) -> Result<&'a str, No> {
    let text = args[name].as_str();
    text.ok_or_else(|| No::Failed(format!("no {name}")))
}

fn bytes(value: &Value) -> Result<Vec<u8>, No> {
    let bytes = value.as_str().and_then(hex::decode);
    bytes.ok_or_else(|| No::Failed("no hex".into()))
}

fn config(args: &Value) -> Result<Config, No> {
    Ok(Config {
        url: text(args, "url")?.to_owned(),
        name: text(args, "name")?.to_owned(),
        token: text(args, "token")?.to_owned(),
        secret: text(args, "secret")?.as_bytes().to_vec(),
        cache_size: args["cache_size"].as_u64().unwrap_or(4096) as usize,
        backoff: Duration::from_millis(args["backoff_ms"].as_u64().unwrap_or(500)),
    })
}

fn start_client(
    instances: &mut HashMap<String, Instance>,
    id: i64,
    instance: String,
    args: &Value,
) {
    let (sender, mut events) = mpsc::unbounded_channel();
    let made = config(args).and_then(|config| {
        Client::new(config, sender).map_err(|refused| No::Refused(refused.to_string()))
    });
    let (client, running) = match made {
        Ok(made) => made,
        Err(no) => return answer(id, Err(no)),
    };
    answer(id, Ok(json!({}))); // before any event
    instances.insert(instance.clone(), Instance::Client(client));
    tokio::spawn(running);
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            let (event, data) = match event {
                Event::Connected(connected) => ("status", json!({ "connected": connected })),
                Event::Message(m) => (
                    "message",
                    json!({
                        "id": m.id, "from": m.from, "to": m.to,
                        "source": m.source, "kind": m.kind, "body": m.body,
                    }),
                ),
            };
            write(&json!({ "event": event, "instance": instance, "data": data }));
        }
    });
}

// In the order of the requests; the answers come when they come.
fn operate(client: &Client, id: i64, op: &str, args: &Value) {
    let body = || text(args, "body");
    match op {
        "send" => match text(args, "to").and_then(|to| Ok((to, body()?))) {
            Ok((to, body)) => later(id, client.send(to, body), |id| json!({ "id": id })),
            Err(no) => answer(id, Err(no)),
        },
        "broadcast" => match body() {
            Ok(body) => later(id, client.broadcast(body), |id| json!({ "id": id })),
            Err(no) => answer(id, Err(no)),
        },
        "peers" => later(id, client.peers(), |names| json!({ "names": names })),
        "consume" => answer(
            id,
            text(args, "id").map(|message| {
                client.consume(message);
                json!({})
            }),
        ),
        _ => answer(id, Err(No::Unsupported(format!("operation {op}")))),
    }
}

fn later<T: Send + 'static>(
    id: i64,
    answered: oneshot::Receiver<Result<T, Refused>>,
    result: fn(T) -> Value,
) {
    tokio::spawn(async move {
        answer(
            id,
            match answered.await {
                Ok(Ok(value)) => Ok(result(value)),
                Ok(Err(refused)) => Err(No::Refused(refused.to_string())),
                Err(_) => Err(No::Refused("the connection is lost".into())),
            },
        );
    });
}

fn codec(op: &str, args: &Value) -> Result<Value, No> {
    let envelope = || -> Result<Envelope, No> {
        let wire = String::from_utf8(bytes(&args["wire"])?);
        let wire = wire.map_err(|_| No::Refused("not UTF-8".into()))?;
        Envelope::parse(&wire).map_err(|malformed| No::Refused(malformed.to_string()))
    };
    match op {
        "canonical" => {
            let canonical = envelope()?.canonical();
            Ok(json!({ "canonical": hex::encode(canonical.as_bytes()) }))
        }
        "sign" => Ok(json!({ "hmac": envelope()?.sign(&bytes(&args["secret"])?) })),
        "verify" => Ok(json!({ "valid": envelope()?.verify(&bytes(&args["secret"])?) })),
        "encode_lines" => {
            let mut stream = String::new();
            for wire in args["wires"].as_array().into_iter().flatten() {
                let wire = String::from_utf8(bytes(wire)?);
                let wire = wire.map_err(|_| No::Refused("not UTF-8".into()))?;
                let line = lines::encode(&wire);
                stream += &line.map_err(|malformed| No::Refused(malformed.to_string()))?;
            }
            Ok(json!({ "stream": hex::encode(stream.as_bytes()) }))
        }
        "decode_lines" => {
            let mut decoder = lines::Decoder::default();
            let mut objects = Vec::new();
            for chunk in args["chunks"].as_array().into_iter().flatten() {
                let decoded = decoder.push(&bytes(chunk)?);
                objects.extend(decoded.into_iter().map(Result::ok));
            }
            let objects: Vec<_> = (objects.into_iter())
                .map(|object| object.map(|text| hex::encode(text.as_bytes())))
                .collect();
            Ok(json!({ "objects": objects }))
        }
        _ => Err(No::Unsupported(format!("operation {op}"))),
    }
}
