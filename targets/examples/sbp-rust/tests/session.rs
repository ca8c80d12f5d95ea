//! Sessions against a peer that is written by hand.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use sbp::frame::{Body, Frame, FrameId};
use sbp::handshake::Handshake;
use sbp::peer::{Config, Event, Peer, Session};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

type Ws = WebSocketStream<TcpStream>;

struct Bench {
    at: String,
    events: mpsc::UnboundedReceiver<Event>,
    stop: mpsc::Receiver<()>,
}

fn peer(config: Config) -> (Peer, mpsc::UnboundedReceiver<Event>) {
    let (tell, events) = mpsc::unbounded_channel();
    let host = Arc::new(move |_, event| drop(tell.send(event)));
    (Peer::new(config, host).unwrap(), events)
}

async fn accepting(config: Config) -> Bench {
    let (peer, events) = peer(config);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let (alive, stop) = mpsc::channel(1);
    tokio::spawn(peer.accept(listener, || 1, alive));
    Bench { at, events, stop }
}

impl Bench {
    async fn dial(&self) -> Ws {
        let tcp = TcpStream::connect(&self.at).await.unwrap();
        client_async(format!("ws://{}/any", self.at), tcp).await.unwrap().0
    }

    async fn event(&mut self) -> Event {
        timeout(Duration::from_secs(5), self.events.recv()).await.unwrap().unwrap()
    }

    /// Dials, and exchanges handshakes.
    async fn meet(&mut self) -> (Ws, Session) {
        let mut ws = self.dial().await;
        put(&mut ws, &handshake("1")).await;
        assert!(matches!(get(&mut ws).await.unwrap().body, Body::Handshake(h) if h.is_supported()));
        match self.event().await {
            Event::Established { peer_id, session, .. } if peer_id == "me" => (ws, session),
            event => panic!("{event:?}"),
        }
    }
}

fn handshake(version: &str) -> Frame {
    let mut h = Handshake::new("me".into(), None, None);
    h.version = version.into();
    Frame::new(Body::Handshake(h))
}

fn message(subject: &str, size: usize) -> Frame {
    Frame::new(Body::Message { subject: subject.into(), data: vec![7; size] })
}

async fn put(ws: &mut Ws, frame: &Frame) {
    ws.send(Message::Binary(frame.encode().unwrap().into())).await.unwrap();
}

/// The next frame, or None at the end.
async fn get(ws: &mut Ws) -> Option<Frame> {
    match timeout(Duration::from_secs(5), ws.next()).await.unwrap() {
        Some(Ok(Message::Binary(wire))) => Some(Frame::decode(&wire).unwrap()),
        Some(Ok(Message::Close(_)) | Err(_)) | None => None,
        Some(Ok(other)) => panic!("{other:?}"),
    }
}

/// Expects our handshake, if it is still to come, an Error, and the end.
async fn rejected(ws: &mut Ws, code: u16, id: Option<FrameId>) {
    let mut frame = get(ws).await.unwrap();
    if matches!(frame.body, Body::Handshake(_)) {
        frame = get(ws).await.unwrap();
    }
    assert!(matches!(frame.body, Body::Error { code: c, .. } if c == code), "{frame:?}");
    if let Some(id) = id {
        assert_eq!(frame.id, id);
    }
    assert_eq!(get(ws).await, None);
}

#[tokio::test]
async fn handshakes_that_fail() {
    let bench = accepting(Config::default()).await;
    let first = |body| Frame::new(body);
    for (frame, code) in [
        (handshake("2"), 1001),
        (first(Body::Ping), 1000),
        (first(Body::Close { reason: None }), 1000),
        (message("app/x", 1), 1000),
        (first(Body::Error { code: 1, message: "".into(), details: vec![] }), 1000),
    ] {
        let mut ws = bench.dial().await;
        put(&mut ws, &frame).await;
        put(&mut ws, &message("app/late", 100_000)).await;
        rejected(&mut ws, code, Some(frame.id)).await;
    }
}

#[tokio::test]
async fn frames_that_are_none() {
    let mut bench = accepting(Config { limit: 2000, ..Config::default() }).await;
    let ping = Frame::new(Body::Ping);
    let mut flagged = ping.encode().unwrap();
    flagged[1] = 0x80;
    let long = message("app/x", 2001 - 27);
    let far_too_long = message("app/x", 1 << 20);
    for (wire, code, id) in [
        (Message::Binary(flagged.into()), 1002, Some(ping.id)),
        (Message::Binary(vec![].into()), 1002, None),
        (Message::Text("hello".into()), 1000, None),
        (Message::Binary(long.encode().unwrap().into()), 1000, Some(long.id)),
        (Message::Binary(far_too_long.encode().unwrap().into()), 1000, None),
    ] {
        let (mut ws, _) = bench.meet().await;
        put(&mut ws, &message("app/x", 2000 - 27)).await; // just within the limit
        assert!(matches!(bench.event().await, Event::Message { .. }));
        let _ = ws.send(wire).await;
        rejected(&mut ws, code, id).await;
        assert!(matches!(bench.event().await, Event::Closed { reason: None }));
    }
}

#[tokio::test]
async fn a_session() {
    let mut bench = accepting(Config { receipt: true, ..Config::default() }).await;
    let (mut ws, session) = bench.meet().await;

    put(&mut ws, &handshake("1")).await; // once more: ignored, as are what nobody asked for and ops of the future
    put(&mut ws, &Frame::new(Body::Pong)).await;
    put(&mut ws, &Frame::new(Body::Ack(FrameId([1; 16])))).await;
    let mut reserved = Frame::new(Body::Ping).encode().unwrap();
    reserved[18] = 9;
    ws.send(Message::Binary(reserved.into())).await.unwrap();
    let ping = Frame::new(Body::Ping);
    put(&mut ws, &ping).await;
    let pong = get(&mut ws).await.unwrap();
    assert!(pong.body == Body::Pong && pong.id != ping.id);

    let received = Frame { ts: Some(-5), ..message("app/é", 3) };
    put(&mut ws, &received).await;
    assert!(matches!(bench.event().await, Event::Message { subject, ts: Some(-5), .. } if subject == "app/é"));
    let ack = get(&mut ws).await.unwrap();
    assert!(ack.body == Body::Ack(received.id) && ack.id != received.id);

    let sent = session.send("app/y".into(), vec![1, 2], Some(0)).await.unwrap();
    let frame = get(&mut ws).await.unwrap();
    assert_eq!(
        frame,
        Frame { id: sent, ts: Some(0), body: Body::Message { subject: "app/y".into(), data: vec![1, 2] } }
    );
    put(&mut ws, &Frame::new(Body::Ack(sent))).await;
    put(&mut ws, &Frame::new(Body::Ack(sent))).await;
    assert!(matches!(bench.event().await, Event::Acked(id) if id == sent));

    let ping = session.ping().await.unwrap();
    assert_eq!(get(&mut ws).await.unwrap().id, ping);
    put(&mut ws, &Frame::new(Body::Pong)).await;
    assert!(matches!(bench.event().await, Event::Pong));

    assert!(session.send("".into(), vec![], None).await.is_err());
    assert!(session.send("x".repeat(257), vec![], None).await.is_err());
    assert!(session.send("app/z".into(), vec![0; 1 << 20], None).await.is_err());

    put(&mut ws, &Frame::new(Body::Error { code: 2000, message: "m".into(), details: vec![9] })).await;
    assert!(matches!(bench.event().await, Event::Error { code: 2000, .. }));
    put(&mut ws, &Frame::new(Body::Close { reason: Some("bye".into()) })).await;
    assert!(matches!(bench.event().await, Event::Closed { reason: Some(r) } if r == "bye"));
    assert_eq!(get(&mut ws).await, None);
    assert!(session.ping().await.is_err());
}

#[tokio::test]
async fn the_connecting_side() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/p?q", listener.local_addr().unwrap());
    let (peer, events) = peer(Config { caps: Some(vec!["rpc".into()]), ..Config::default() });
    let (alive, stop) = mpsc::channel(1);
    tokio::spawn(peer.connect(url, 1, alive));
    let mut ws = accept_async(listener.accept().await.unwrap().0).await.unwrap();
    let mut bench = Bench { at: String::new(), events, stop };
    assert!(
        matches!(get(&mut ws).await.unwrap().body, Body::Handshake(h) if h.caps.as_deref() == Some(&["rpc".into()]))
    );
    put(&mut ws, &handshake("1")).await;
    let Event::Established { session, .. } = bench.event().await else { panic!() };
    session.send("app/x".into(), vec![], None).await.unwrap();
    assert!(matches!(get(&mut ws).await.unwrap().body, Body::Message { .. }));
    bench.stop.close();
    drop(bench.stop);
    assert!(matches!(get(&mut ws).await.unwrap().body, Body::Close { reason: Some(_) }));
    assert_eq!(get(&mut ws).await, None);
}

#[test]
fn hints_that_may_not_be_announced() {
    let with = |key: &str, value: &str| {
        let metadata = [(key.to_owned(), value.into())].into_iter().collect();
        Peer::new(Config { metadata: Some(metadata), ..Config::default() }, Arc::new(|_, _| {})).is_ok()
    };
    assert!(with("vendor:x", "1"));
    assert!(!with("x", "1"));
    assert!(!with(":x", "1"));
    assert!(!with("vendor:x", &"1".repeat(9000)));
}
