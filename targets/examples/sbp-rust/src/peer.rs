//! A peer: sessions over WebSocket, on either side.
//!
//! Each session is a task that owns its WebSocket. It reads only while it has nothing to write, so a peer that does not
//! read is not read either.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Map, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message as WsMessage};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, client_async_with_config};

use crate::frame::{Body, Frame, FrameId, INVALID_FRAME, MAX_FRAME, PROTOCOL_VIOLATION, UNSUPPORTED_VERSION};
use crate::handshake::{Handshake, RECOMMENDED_SIZE};

/// For the WebSocket, and again for the other side's Handshake.
const OPENING: Duration = Duration::from_secs(20);
/// For a write to a peer that does not read.
const WRITING: Duration = Duration::from_secs(30);
/// For the other side to read why a session ended.
const FAREWELL: Duration = Duration::from_secs(1);
/// A frame that is too long by no more than this is read, so that the Error can name it.
const SLACK: usize = 64 * 1024;
/// How many Messages may wait for their Ack, and Pings for their Pong; older ones are forgotten.
const REMEMBERED: usize = 65_536;
/// Subjects that are sent (SBP-LIM-05).
const MAX_SUBJECT: usize = 256;

#[derive(Clone, Debug)]
pub struct Config {
    pub peer_id: String,
    pub caps: Option<Vec<String>>,
    pub metadata: Option<Map<String, Value>>,
    /// Acknowledge each Message.
    pub receipt: bool,
    /// Bytes of the largest frame that is taken.
    pub limit: usize,
}

impl Default for Config {
    fn default() -> Self {
        let peer_id = format!("rust-{:?}", FrameId::random());
        Config { peer_id, caps: None, metadata: None, receipt: false, limit: MAX_FRAME }
    }
}

/// What the host hears of a session.
#[derive(Debug)]
pub enum Event {
    Established {
        peer_id: String,
        caps: Vec<String>,
        metadata: Map<String, Value>,
        session: Session,
    },
    Message {
        subject: String,
        data: Vec<u8>,
        ts: Option<i64>,
    },
    Pong,
    Acked(FrameId),
    Error {
        code: u16,
        message: String,
        details: Vec<u8>,
    },
    /// The last one of a session that was established.
    Closed {
        reason: Option<String>,
    },
}

/// Called with a number for each session, and what happened there.
pub type Host = Arc<dyn Fn(u64, Event) + Send + Sync>;

/// What the host can do with a session.
#[derive(Clone, Debug)]
pub struct Session(mpsc::Sender<Command>);

#[derive(Debug)]
enum Command {
    Send(Frame, oneshot::Sender<Result<FrameId, String>>),
    Close(String, oneshot::Sender<Result<FrameId, String>>),
}

impl Session {
    pub async fn send(&self, subject: String, data: Vec<u8>, ts: Option<i64>) -> Result<FrameId, String> {
        if subject.len() > MAX_SUBJECT {
            return Err("the subject is longer than 256 bytes".into());
        }
        self.put(Frame { ts, ..Frame::new(Body::Message { subject, data }) }).await
    }

    /// A Ping has its time with it (SBP-PING-03).
    pub async fn ping(&self) -> Result<FrameId, String> {
        self.put(Frame { ts: Some(now()), ..Frame::new(Body::Ping) }).await
    }

    pub async fn close(&self, reason: String) -> Result<(), String> {
        let (done, wait) = oneshot::channel();
        self.command(Command::Close(reason, done), wait).await.map(drop)
    }

    async fn put(&self, frame: Frame) -> Result<FrameId, String> {
        let (done, wait) = oneshot::channel();
        self.command(Command::Send(frame, done), wait).await
    }

    async fn command(
        &self,
        command: Command,
        wait: oneshot::Receiver<Result<FrameId, String>>,
    ) -> Result<FrameId, String> {
        const OVER: &str = "the session is over";
        self.0.send(command).await.map_err(|_| OVER)?;
        wait.await.map_err(|_| OVER)?
    }
}

/// A peer is cheap to clone.
#[derive(Clone)]
pub struct Peer {
    config: Arc<Config>,
    handshake: Arc<Handshake>,
    host: Host,
}

impl Peer {
    /// Refuses what may not be announced.
    pub fn new(config: Config, host: Host) -> Result<Self, String> {
        let handshake = Handshake::new(config.peer_id.clone(), config.caps.clone(), config.metadata.clone());
        if handshake.write()?.len() > RECOMMENDED_SIZE {
            return Err("the handshake is longer than 8 KiB".into());
        }
        Ok(Peer { config: Arc::new(config), handshake: Arc::new(handshake), host })
    }

    /// Takes connections for ever; number gives each its own. Sessions end with the channel that stop is of.
    pub async fn accept(self, listener: TcpListener, number: impl Fn() -> u64, stop: mpsc::Sender<()>) {
        loop {
            match listener.accept().await {
                Ok((tcp, _)) => {
                    let (peer, number, stop) = (self.clone(), number(), stop.clone());
                    tokio::spawn(async move {
                        let ws = timeout(OPENING, accept_async_with_config(tcp, Some(peer.ws_config()))).await;
                        peer.opened(ws, number, stop).await;
                    });
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await, // too many files, perhaps
            }
        }
    }

    /// Dials once.
    pub async fn connect(self, url: String, number: u64, stop: mpsc::Sender<()>) {
        let ws = timeout(OPENING, self.dial(&url)).await;
        self.opened(ws, number, stop).await;
    }

    async fn dial(&self, url: &str) -> tungstenite::Result<WebSocketStream<TcpStream>> {
        let authority = address(url).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        let tcp = TcpStream::connect(authority).await?;
        Ok(client_async_with_config(url, tcp, Some(self.ws_config())).await?.0)
    }

    fn ws_config(&self) -> WebSocketConfig {
        let most = self.config.limit.saturating_add(SLACK);
        WebSocketConfig::default().max_message_size(Some(most)).max_frame_size(Some(most))
    }

    async fn opened(
        self,
        ws: Result<tungstenite::Result<WebSocketStream<TcpStream>>, tokio::time::error::Elapsed>,
        number: u64,
        stop: mpsc::Sender<()>,
    ) {
        match ws {
            Ok(Ok(ws)) => {
                let _ = ws.get_ref().set_nodelay(true);
                Task::new(self, ws, number).run(stop).await;
            }
            Ok(Err(e)) => eprintln!("session {number}: no WebSocket: {e}"),
            Err(_) => eprintln!("session {number}: no WebSocket in time"),
        }
    }
}

/// The host and port of a ws URL.
pub fn address(url: &str) -> Result<String, &'static str> {
    let rest = url.strip_prefix("ws://").ok_or("only ws:// can be dialled")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    if authority.is_empty() || authority.contains('@') {
        return Err("the URL has no host");
    }
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port { authority.to_owned() } else { format!("{authority}:80") })
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Why a session ends.
enum End {
    /// The transport is gone, or was closed by the other side.
    Gone,
    /// The other side sent Close.
    Closed(Option<String>),
    /// We close: the frame goes out first.
    Say { last: Box<Frame>, code: CloseCode, why: String },
}

fn violation(id: Option<FrameId>, code: u16, close: CloseCode, why: &str) -> End {
    let mut last = Frame::new(Body::Error { code, message: why.into(), details: vec![] });
    if let Some(id) = id {
        last.id = id; // the one frame that may bear a received id (SBP-ERR-06)
    }
    End::Say { last: Box::new(last), code: close, why: why.into() }
}

fn farewell(reason: String, code: CloseCode) -> End {
    let body = Body::Close { reason: (!reason.is_empty()).then_some(reason) };
    End::Say { last: Box::new(Frame::new(body)), code, why: String::new() }
}

/// The running session.
struct Task {
    peer: Peer,
    ws: WebSocketStream<TcpStream>,
    number: u64,
    established: bool,
    unacked: HashSet<FrameId>,
    unacked_order: VecDeque<FrameId>,
    pings: usize,
}

impl Task {
    fn new(peer: Peer, ws: WebSocketStream<TcpStream>, number: u64) -> Self {
        Task { peer, ws, number, established: false, unacked: HashSet::new(), unacked_order: VecDeque::new(), pings: 0 }
    }

    async fn run(mut self, stop: mpsc::Sender<()>) {
        let (handle, commands) = mpsc::channel(16);
        let end = self.talk(handle, commands, &stop).await;
        let reason = match end {
            End::Closed(ref reason) => reason.clone(),
            _ => None,
        };
        if self.established {
            self.tell(Event::Closed { reason });
        }
        let _ = timeout(2 * FAREWELL, self.finish(end)).await;
    }

    fn tell(&self, event: Event) {
        (self.peer.host)(self.number, event);
    }

    /// Both sides send their Handshake at once, and neither waits for the other's (SBP-HS-02).
    async fn talk(
        &mut self,
        handle: mpsc::Sender<Command>,
        mut commands: mpsc::Receiver<Command>,
        stop: &mpsc::Sender<()>,
    ) -> End {
        let own = Frame::new(Body::Handshake((*self.peer.handshake).clone()));
        if self.write(&own).await.is_err() {
            return End::Gone;
        }
        let mut handle = Some(handle); // given to the host when the session is established
        let deadline = Instant::now() + OPENING;
        loop {
            let step = tokio::select! {
                message = self.ws.next() => self.received(message, &mut handle).await,
                Some(command) = commands.recv() => self.commanded(command).await,
                () = stop.closed() => Err(farewell("the peer stops".into(), CloseCode::Away)),
                () = tokio::time::sleep_until(deadline), if !self.established => {
                    Err(violation(None, PROTOCOL_VIOLATION, CloseCode::Policy, "no handshake came"))
                }
            };
            if let Err(end) = step {
                return end;
            }
        }
    }

    async fn received(
        &mut self,
        message: Option<tungstenite::Result<WsMessage>>,
        handle: &mut Option<mpsc::Sender<Command>>,
    ) -> Result<(), End> {
        let limit = self.peer.config.limit;
        let too_long =
            |id| violation(id, PROTOCOL_VIOLATION, CloseCode::Size, &format!("a frame is longer than {limit} bytes"));
        match message {
            Some(Ok(WsMessage::Binary(wire))) if wire.len() > limit => {
                let id = wire.get(2..18).and_then(|id| id.try_into().ok()).map(FrameId);
                Err(too_long(id)) // SBP-LIM-03
            }
            Some(Ok(WsMessage::Binary(wire))) => match Frame::decode(&wire) {
                Ok(frame) => self.frame(frame, handle).await,
                Err(e) => Err(violation(e.id, INVALID_FRAME, CloseCode::Protocol, &e.reason)), // SBP-CMP-02
            },
            Some(Ok(WsMessage::Text(_)) | Err(tungstenite::Error::Utf8(_))) => {
                Err(violation(None, PROTOCOL_VIOLATION, CloseCode::Unsupported, "frames are binary messages"))
            }
            Some(Ok(WsMessage::Close(_))) | None => Err(End::Gone),
            Some(Ok(_)) => Ok(()), // WebSocket's own ping and pong
            Some(Err(tungstenite::Error::Capacity(_))) => Err(too_long(None)),
            Some(Err(_)) => Err(End::Gone),
        }
    }

    /// Frames are handled in the order of their arrival.
    async fn frame(&mut self, frame: Frame, handle: &mut Option<mpsc::Sender<Command>>) -> Result<(), End> {
        let Frame { id, ts, body } = frame;
        if let Some(session) = handle.take() {
            let Body::Handshake(h) = body else {
                // SBP-HS-03: also for Ping and Close
                return Err(violation(Some(id), PROTOCOL_VIOLATION, CloseCode::Policy, "a frame before the handshake"));
            };
            if !h.is_supported() {
                return Err(violation(
                    Some(id),
                    UNSUPPORTED_VERSION,
                    CloseCode::Policy,
                    "only sideband 1 is spoken here",
                ));
            }
            self.established = true;
            self.tell(Event::Established {
                peer_id: h.peer_id,
                caps: h.caps.unwrap_or_default(),
                metadata: h.metadata.unwrap_or_default(),
                session: Session(session),
            });
            return Ok(());
        }
        match body {
            Body::Handshake(_) | Body::Reserved { .. } => {} // one is enough; and ops may be added (SBP-CTRL-04)
            Body::Ping => self.answer(Frame { ts: Some(now()), ..Frame::new(Body::Pong) }).await?,
            Body::Pong => {
                if self.pings > 0 {
                    self.pings -= 1;
                    self.tell(Event::Pong);
                }
            }
            Body::Close { reason } => return Err(End::Closed(reason)),
            Body::Message { subject, data } => {
                self.tell(Event::Message { subject, data, ts });
                if self.peer.config.receipt {
                    self.answer(Frame::new(Body::Ack(id))).await?; // SBP-ACK-03
                }
            }
            Body::Ack(id) => {
                if self.unacked.remove(&id) {
                    self.tell(Event::Acked(id)); // this one only (SBP-SEM-02)
                }
            }
            Body::Error { code, message, details } => self.tell(Event::Error { code, message, details }),
        }
        Ok(())
    }

    async fn commanded(&mut self, command: Command) -> Result<(), End> {
        let (frame, done) = match command {
            Command::Send(frame, done) => (frame, done),
            Command::Close(reason, done) => {
                let _ = done.send(Ok(FrameId([0; 16]))); // nobody looks at it
                return Err(farewell(reason, CloseCode::Normal));
            }
        };
        match frame.body {
            Body::Message { .. } => self.remember(frame.id),
            _ => self.pings = (self.pings + 1).min(REMEMBERED),
        }
        match self.write(&frame).await {
            Ok(()) => {
                let _ = done.send(Ok(frame.id));
                Ok(())
            }
            Err(Unsent::Refused(why)) => {
                self.unacked.remove(&frame.id);
                let _ = done.send(Err(why));
                Ok(())
            }
            Err(Unsent::Gone) => Err(End::Gone), // done is dropped, and says so
        }
    }

    fn remember(&mut self, id: FrameId) {
        self.unacked.insert(id);
        self.unacked_order.push_back(id);
        if self.unacked_order.len() > REMEMBERED
            && let Some(old) = self.unacked_order.pop_front()
        {
            self.unacked.remove(&old);
        }
    }

    async fn answer(&mut self, frame: Frame) -> Result<(), End> {
        self.write(&frame).await.map_err(|_| End::Gone)
    }

    async fn write(&mut self, frame: &Frame) -> Result<(), Unsent> {
        let wire = frame.encode().map_err(Unsent::Refused)?;
        if wire.len() > self.peer.config.limit.max(MAX_FRAME) {
            return Err(Unsent::Refused("the frame is longer than 1 MiB".into()));
        }
        match timeout(WRITING, self.ws.send(WsMessage::Binary(wire.into()))).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Unsent::Gone),
        }
    }

    /// Ends the transport so that the other side gets what was said last: unread bytes would turn it into a reset.
    async fn finish(mut self, end: End) {
        let deadline = Instant::now() + FAREWELL;
        let close = match end {
            End::Say { last, code, why } => {
                if !why.is_empty() {
                    eprintln!("session {}: {why}", self.number);
                }
                if self.write(&last).await.is_err() {
                    return;
                }
                Some(CloseFrame { code, reason: "".into() })
            }
            End::Gone | End::Closed(_) => Some(CloseFrame { code: CloseCode::Normal, reason: "".into() }),
        };
        let _ = timeout_at(deadline, self.ws.close(close)).await;
        let tcp = self.ws.get_mut();
        let _ = tcp.shutdown().await;
        let mut discard = vec![0; 64 * 1024];
        for _ in 0..1024 {
            match timeout_at(deadline, tcp.read(&mut discard)).await {
                Ok(Ok(n)) if n > 0 => {}
                _ => return,
            }
        }
    }
}

/// Why a frame was not sent.
enum Unsent {
    Refused(String),
    Gone,
}
