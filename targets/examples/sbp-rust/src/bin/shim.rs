//! The codec and peers for a test harness: JSON Lines on stdin and stdout, four verbs. Logs go to stderr.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use sbp::frame::{Body, Frame, FrameId, INVALID_FRAME};
use sbp::handshake::Handshake;
use sbp::peer::{Config, Event, Peer, Session, address};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

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
    args: Map<String, Value>,
}

/// The answers that are no result.
enum No {
    Refused(String),
    Unsupported(String),
    Failed(String),
}

impl From<String> for No {
    fn from(why: String) -> Self {
        No::Refused(why)
    }
}

impl From<&str> for No {
    fn from(why: &str) -> Self {
        No::Refused(why.into())
    }
}

type Answer = Result<Value, No>;
type Sessions = Arc<Mutex<HashMap<u64, Session>>>;

enum Instance {
    Codec,
    Peer(Running),
}

/// Sessions end when the receiver is dropped.
struct Running {
    sessions: Sessions,
    accepting: Option<AbortHandle>,
    _stop: mpsc::Receiver<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(task) = &self.accepting {
            task.abort(); // sessions are tasks of their own
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (lines, mut requests) = mpsc::channel(64);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { break };
            if lines.blocking_send(line).is_err() {
                break;
            }
        }
    });
    let mut instances = HashMap::new();
    while let Some(line) = requests.recv().await {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Request>(&line) {
            Ok(request) => handle(request, &mut instances).await,
            Err(e) => eprintln!("shim: not a request: {e}"),
        }
    }
}

async fn handle(request: Request, instances: &mut HashMap<String, Instance>) {
    let id = request.id;
    match request.verb.as_str() {
        "hello" => answer(
            id,
            Ok(json!({
                "name": "sbp-rust", "version": env!("CARGO_PKG_VERSION"), "language": "rust", "protocol": 1,
                "roles": {
                    "sbp/codec": [],
                    "sbp/peer": ["accept", "connect", "host", "receipt", "limit", "hints"],
                },
            })),
        ),
        "start" if instances.contains_key(&request.instance) => {
            answer(id, Err(No::Failed("there is such an instance".into())));
        }
        "start" => match start(&request).await {
            Ok((instance, result)) => {
                instances.insert(request.instance, instance);
                answer(id, Ok(result));
            }
            Err(no) => answer(id, Err(no)),
        },
        "do" => match instances.get(&request.instance) {
            None => answer(id, Err(No::Failed("no such instance".into()))),
            Some(Instance::Codec) => answer(id, codec(&request.op, &request.args)),
            Some(Instance::Peer(peer)) => {
                let sessions = peer.sessions.clone();
                // One that takes its time holds up no other.
                tokio::spawn(async move { answer(id, operate(&sessions, &request.op, &request.args).await) });
            }
        },
        "stop" => {
            instances.remove(&request.instance);
            answer(id, Ok(json!({})));
        }
        verb => answer(id, Err(No::Unsupported(format!("verb {verb}")))),
    }
}

async fn start(request: &Request) -> Result<(Instance, Value), No> {
    match request.role.as_str() {
        "sbp/codec" => Ok((Instance::Codec, json!({}))),
        "sbp/peer" => start_peer(&request.instance, &request.args).await,
        role => Err(No::Unsupported(format!("role {role}"))),
    }
}

async fn start_peer(instance: &str, args: &Map<String, Value>) -> Result<(Instance, Value), No> {
    let mut config = Config { caps: caps(args)?, metadata: metadata(args)?, ..Config::default() };
    match text(args, "peer_id")? {
        Some(peer_id) if !peer_id.is_empty() => config.peer_id = peer_id,
        _ => {}
    }
    config.receipt = match args.get("receipt") {
        None | Some(Value::Null) => false,
        Some(v) => v.as_bool().ok_or("receipt is not a truth value")?,
    };
    if let Some(limit) = args.get("limit").filter(|v| !v.is_null()) {
        config.limit = limit.as_u64().and_then(|n| n.try_into().ok()).ok_or("limit is not a size")?;
    }

    let sessions = Sessions::default();
    let peer = Peer::new(config, host(instance.to_owned(), sessions.clone()))?;
    let (alive, stop) = mpsc::channel(1);
    let (accepting, result) = match text(args, "side")?.as_deref() {
        Some("accept") => {
            let failed = |e: std::io::Error| No::Failed(e.to_string());
            let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
            let at = listener.local_addr().map_err(failed)?;
            let task = tokio::spawn(peer.accept(listener, next_number, alive));
            (Some(task.abort_handle()), json!({"address": format!("ws://{at}")}))
        }
        Some("connect") => {
            let url = text(args, "url")?.ok_or("there is no url")?;
            address(&url)?;
            tokio::spawn(peer.connect(url, next_number(), alive));
            (None, json!({}))
        }
        _ => return Err("side is accept or connect".into()),
    };
    Ok((Instance::Peer(Running { sessions, accepting, _stop: stop }), result))
}

fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Tells the harness what happens.
fn host(instance: String, sessions: Sessions) -> sbp::peer::Host {
    Arc::new(move |session, event| {
        let (name, mut data) = match event {
            Event::Established { peer_id, caps, metadata, session: handle } => {
                sessions.lock().unwrap().insert(session, handle);
                ("established", json!({"peer_id": peer_id, "caps": caps, "metadata": metadata}))
            }
            Event::Message { subject, data, ts } => {
                ("message", json!({"subject": subject, "data": hex(&data), "ts": ts.map(|t| t.to_string())}))
            }
            Event::Pong => ("pong", json!({})),
            Event::Acked(id) => ("acked", json!({"id": hex(&id.0)})),
            Event::Error { code, message, details } => {
                ("error", json!({"code": code, "message": message, "details": hex(&details)}))
            }
            Event::Closed { reason } => {
                sessions.lock().unwrap().remove(&session);
                ("closed", json!({"reason": reason}))
            }
        };
        data["session"] = json!(session);
        write(&json!({"event": name, "instance": instance, "data": data}));
    })
}

async fn operate(sessions: &Sessions, op: &str, args: &Map<String, Value>) -> Answer {
    if !matches!(op, "send" | "ping" | "close") {
        return Err(No::Unsupported(format!("operation {op}")));
    }
    let number = args.get("session").and_then(Value::as_u64).ok_or("no such session")?;
    let session = sessions.lock().unwrap().get(&number).cloned().ok_or("the session is over")?;
    match op {
        "send" => {
            let subject = text(args, "subject")?.ok_or("there is no subject")?;
            let id = session.send(subject, bytes(args, "data")?, timestamp(args)?).await?;
            Ok(json!({"id": hex(&id.0)}))
        }
        "ping" => Ok(json!({"id": hex(&session.ping().await?.0)})),
        _ => {
            session.close(text(args, "reason")?.unwrap_or_default()).await?;
            Ok(json!({}))
        }
    }
}

fn codec(op: &str, args: &Map<String, Value>) -> Answer {
    match op {
        "encode" => {
            let frame = args.get("frame").and_then(Value::as_object).ok_or("there is no frame")?;
            Ok(json!({"wire": hex(&read_frame(frame)?.encode()?)}))
        }
        "decode" => match Frame::decode(&bytes(args, "wire")?) {
            Ok(frame) => Ok(json!({"frame": show_frame(frame)})),
            Err(e) => Err(No::Refused(format!("{INVALID_FRAME} {}", e.reason))),
        },
        _ => Err(No::Unsupported(format!("operation {op}"))),
    }
}

fn read_frame(f: &Map<String, Value>) -> Result<Frame, String> {
    let id = bytes(f, "id")?.try_into().map_err(|_| "an id has 16 bytes")?;
    let body = match text(f, "kind")?.as_deref() {
        Some("handshake") => {
            let peer_id = text(f, "peer_id")?.ok_or("there is no peer_id")?;
            Body::Handshake(Handshake::new(peer_id, caps(f)?, metadata(f)?))
        }
        Some("ping") => Body::Ping,
        Some("pong") => Body::Pong,
        Some("close") => Body::Close { reason: text(f, "reason")? },
        Some("message") => Body::Message { subject: text(f, "subject")?.unwrap_or_default(), data: bytes(f, "data")? },
        Some("ack") => Body::Ack(FrameId(bytes(f, "ack")?.try_into().map_err(|_| "an id has 16 bytes")?)),
        Some("error") => Body::Error {
            code: f
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|c| c.try_into().ok())
                .ok_or("the code does not fit")?,
            message: text(f, "message")?.unwrap_or_default(),
            details: bytes(f, "details")?,
        },
        kind => return Err(format!("kind {kind:?} cannot be written")),
    };
    Ok(Frame { id: FrameId(id), ts: timestamp(f)?, body })
}

fn show_frame(frame: Frame) -> Value {
    let mut shown = match frame.body {
        Body::Handshake(h) => json!({
            "kind": "handshake", "protocol": h.protocol, "version": h.version, "peer_id": h.peer_id,
            "caps": h.caps, "metadata": h.metadata,
        }),
        Body::Ping => json!({"kind": "ping"}),
        Body::Pong => json!({"kind": "pong"}),
        Body::Close { reason } => json!({"kind": "close", "reason": reason}),
        Body::Reserved { op, data } => json!({"kind": "control", "op": op, "data": hex(&data)}),
        Body::Message { subject, data } => json!({"kind": "message", "subject": subject, "data": hex(&data)}),
        Body::Ack(id) => json!({"kind": "ack", "ack": hex(&id.0)}),
        Body::Error { code, message, details } => {
            json!({"kind": "error", "code": code, "message": message, "details": hex(&details)})
        }
    };
    shown["id"] = json!(hex(&frame.id.0));
    shown["ts"] = json!(frame.ts.map(|t| t.to_string()));
    shown
}

// Arguments: what is absent may be null.

fn given<'a>(args: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    args.get(name).filter(|v| !v.is_null())
}

fn text(args: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match given(args, name) {
        None => Ok(None),
        Some(Value::String(s)) => Ok(Some(s.clone())),
        Some(_) => Err(format!("{name} is not a string")),
    }
}

fn bytes(args: &Map<String, Value>, name: &str) -> Result<Vec<u8>, String> {
    let digits = text(args, name)?.unwrap_or_default();
    unhex(digits.as_bytes()).ok_or_else(|| format!("{name} is not hex"))
}

fn timestamp(args: &Map<String, Value>) -> Result<Option<i64>, String> {
    const NO: &str = "ts does not fit";
    match given(args, "ts") {
        None => Ok(None),
        Some(Value::String(s)) => s.parse().map(Some).map_err(|_| NO.into()),
        Some(v) => v.as_i64().map(Some).ok_or_else(|| NO.into()),
    }
}

fn caps(args: &Map<String, Value>) -> Result<Option<Vec<String>>, String> {
    let list = given(args, "caps").map(|v| serde_json::from_value(v.clone()));
    list.transpose().map_err(|_| "caps is not a list of strings".into())
}

fn metadata(args: &Map<String, Value>) -> Result<Option<Map<String, Value>>, String> {
    let object = given(args, "metadata").map(|v| v.as_object().cloned().ok_or("metadata is not an object"));
    Ok(object.transpose()?)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|d| char::from(DIGITS[usize::from(d)])).collect()
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |d: u8| char::from(d).to_digit(16).map(|v| v as u8);
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some(value(high)? << 4 | value(low)?),
        _ => None,
    });
    pairs.collect()
}

fn answer(id: i64, result: Answer) {
    write(&match result {
        Ok(result) => json!({"id": id, "result": result}),
        Err(No::Refused(why)) => json!({"id": id, "refused": why}),
        Err(No::Unsupported(why)) => json!({"id": id, "unsupported": why}),
        Err(No::Failed(why)) => json!({"id": id, "failed": why}),
    });
}

fn write(line: &Value) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1); // nobody listens
    }
}
