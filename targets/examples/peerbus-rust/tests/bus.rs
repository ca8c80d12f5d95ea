//! A broker and clients, over real connections.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use peerbus::MAX_MESSAGE;
use peerbus::broker::Broker;
use peerbus::client::{Client, Config, Event};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("peerbus-{}", uuid::Uuid::now_v7()))
}

async fn broker(folder: &Path) -> String {
    let tokens = HashSet::from(["t1".to_owned(), "t2".to_owned()]);
    let broker = Broker::open(folder, tokens).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    tokio::spawn(broker.serve(listener));
    url
}

struct Peer(Socket);

impl Peer {
    async fn dial(url: &str) -> Self {
        Self(connect_async(url).await.unwrap().0)
    }

    async fn register(url: &str, name: &str) -> Self {
        let mut peer = Self::dial(url).await;
        peer.say(register("t1", name)).await;
        assert_eq!(peer.hear().await["type"], "peers");
        peer
    }

    async fn say(&mut self, value: Value) {
        self.0.send(Message::text(value.to_string())).await.unwrap();
    }

    async fn next(&mut self) -> Option<Message> {
        let next = timeout(Duration::from_secs(10), self.0.next()).await;
        next.expect("in time").and_then(Result::ok)
    }

    async fn hear(&mut self) -> Value {
        let message = self.next().await.unwrap();
        serde_json::from_str(message.to_text().unwrap()).unwrap()
    }

    async fn names(&mut self) -> Vec<String> {
        self.say(json!({"protocol_version": "v1", "type": "peers"}))
            .await;
        let mut names: Vec<String> =
            serde_json::from_value(self.hear().await["names"].clone()).unwrap();
        names.sort();
        names
    }

    async fn ack(&mut self, key: &str) {
        self.say(json!({"protocol_version": "v1", "type": "ack", "id": key}))
            .await;
        self.names().await;
    }

    async fn close_code(&mut self) -> Option<u16> {
        match self.next().await {
            Some(Message::Close(Some(frame))) => Some(frame.code.into()),
            other => panic!("{other:?}"),
        }
    }
}

fn register(token: &str, name: &str) -> Value {
    json!({"protocol_version": "v1", "type": "register", "token": token, "name": name})
}

fn envelope(id: &str, to: &str) -> Value {
    let kind = if to == "*" { "broadcast" } else { "msg" };
    json!({"protocol_version": "v1", "id": id, "from": "x", "to": to, "ts": "", "source": "",
        "kind": kind, "body": null, "hmac": "00"})
}

#[tokio::test]
async fn rejected_registers() {
    let folder = folder();
    let url = broker(&folder).await;
    let mut holder = Peer::register(&url, "holder").await;
    let mut wrong_version = register("t1", "n");
    wrong_version["protocol_version"] = "v2".into();
    for (first, code) in [
        (json!([]), 1007),
        (envelope("1", "holder"), 1002),
        (wrong_version, 4406),
        (register("t1", ""), 4400),
        (register("t3", "n"), 4401),
        (register("t2", "holder"), 4409),
    ] {
        let mut peer = Peer::dial(&url).await;
        peer.say(first).await;
        assert_eq!(peer.close_code().await, Some(code));
    }
    let mut peer = Peer::dial(&url).await;
    peer.0.send(Message::binary("{}")).await.unwrap();
    assert_eq!(peer.close_code().await, Some(1003));
    assert_eq!(holder.names().await, ["holder"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn stored_until_acknowledged() {
    let folder = folder();
    let url = broker(&folder).await;
    let mut alice = Peer::register(&url, "alice").await;
    let mut bob = Peer::register(&url, "bob").await;
    // The very bytes are relayed.
    let text = " {\"id\":\"1\",\"to\":\"bob\",\"kind\":\"msg\", \"body\":[ 1.0 ],\"protocol_version\":\"v1\",\"more\":0}\n";
    alice.0.send(Message::text(text)).await.unwrap();
    let delivered = bob.next().await.unwrap();
    let expected = r#"{"protocol_version":"v1","type":"deliver","delivery_key":"1","envelope":"#;
    assert_eq!(
        delivered.to_text().unwrap(),
        format!("{expected}{}}}", text.trim())
    );
    alice.say(envelope("2", "*")).await;
    assert_eq!(bob.hear().await["delivery_key"], "2|bob");
    alice.say(envelope("1", "bob")).await; // a duplicate
    alice.say(envelope("3", "nobody")).await;
    alice.ack("1").await; // not hers
    bob.ack("2|bob").await;
    drop(bob);

    // Takeover: dropped without a word, and what is pending goes to the new one.
    let mut bob = Peer::register(&url, "bob").await;
    assert_eq!(bob.hear().await["delivery_key"], "1");
    let mut again = Peer::register(&url, "bob").await;
    assert!(bob.next().await.is_none());
    assert_eq!(again.hear().await["delivery_key"], "1");
    again.ack("1").await;
    assert_eq!(again.names().await, ["alice", "bob"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_message_of_a_mebibyte() {
    let folder = folder();
    let url = broker(&folder).await;
    let mut alice = Peer::register(&url, "alice").await;
    let text = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    alice
        .0
        .send(Message::text(text(MAX_MESSAGE)))
        .await
        .unwrap();
    assert_eq!(alice.names().await, ["alice"]);
    alice
        .0
        .send(Message::text(text(MAX_MESSAGE + 1)))
        .await
        .unwrap();
    assert_eq!(alice.close_code().await, Some(1009));
    std::fs::remove_dir_all(folder).unwrap();
}

fn client(url: &str, name: &str) -> (Client, UnboundedReceiver<Event>) {
    let (sender, events) = unbounded_channel();
    let config = Config {
        url: url.to_owned(),
        name: name.to_owned(),
        token: "t1".to_owned(),
        secret: vec![b'k'; 32],
        cache_size: 16,
        backoff: Duration::from_millis(20),
    };
    let (client, running) = Client::new(config, sender).unwrap();
    tokio::spawn(running);
    (client, events)
}

async fn event(events: &mut UnboundedReceiver<Event>) -> Event {
    let event = timeout(Duration::from_secs(10), events.recv()).await;
    event.expect("in time").unwrap()
}

#[tokio::test]
async fn clients_talk() {
    let folder = folder();
    let url = broker(&folder).await;
    let (alice, mut alices) = client(&url, "alice");
    let (bob, mut bobs) = client(&url, "bob");
    assert!(matches!(event(&mut alices).await, Event::Connected(true)));
    assert!(matches!(event(&mut bobs).await, Event::Connected(true)));
    let id = alice
        .send("bob", r#"{ "z": 1, "a": "<" }"#)
        .await
        .unwrap()
        .unwrap();
    let Event::Message(message) = event(&mut bobs).await else {
        panic!("no message");
    };
    assert_eq!((&message.id, message.from.as_str()), (&id, "alice"));
    assert_eq!(message.body, r#"{"z":1,"a":"<"}"#);

    // Another one of that name takes over; the message was not consumed, so it
    // comes again when the first one is back, is suppressed, and acknowledged.
    let mut thief = Peer::register(&url, "bob").await;
    assert_eq!(thief.hear().await["delivery_key"], id.as_str());
    assert!(matches!(event(&mut bobs).await, Event::Connected(false)));
    bob.consume(&id);
    assert!(matches!(event(&mut bobs).await, Event::Connected(true)));
    let mut names = bob.peers().await.unwrap().unwrap();
    names.sort();
    assert_eq!(names, ["alice", "bob"]);
    bob.peers().await.unwrap().unwrap(); // the acknowledgement is before this
    let mut last = Peer::register(&url, "bob").await;
    assert_eq!(last.names().await, ["alice", "bob"]);

    assert!(alice.send("bob", "{").await.unwrap().is_err());
    assert!(alice.send("*", "1").await.unwrap().is_err());
    let long = format!("\"{}\"", "x".repeat(MAX_MESSAGE));
    assert!(alice.broadcast(&long).await.unwrap().is_err());
    std::fs::remove_dir_all(folder).unwrap();
}
