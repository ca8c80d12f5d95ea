//! A client: it stays registered, and its host sees each message once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval_at, sleep, timeout};
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use uuid::Uuid;

use crate::envelope::{BROADCAST, EVERYBODY, Envelope, MIN_SECRET, MSG};
use crate::frame::{self, Reply};
use crate::{MAX_MESSAGE, VERSION, json};

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BACKOFF: Duration = Duration::from_secs(5);
const PING: Duration = Duration::from_secs(30);
/// No name in the key of a broadcast's copy is counted on to be longer.
const LONGEST_NAME: usize = 255;
/// With so many messages in the hands of the host nothing more is read.
const MAX_UNCONSUMED: usize = 1 << 16;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

#[derive(Debug, Clone)]
pub struct Config {
    pub url: String,
    pub name: String,
    pub token: String,
    pub secret: Vec<u8>,
    /// How many ids are remembered (5).
    pub cache_size: usize,
    /// The first wait between two dials.
    pub backoff: Duration,
}

#[derive(Debug)]
pub enum Event {
    /// True once a register was answered, false when that connection is gone.
    Connected(bool),
    /// To be consumed by the host: see [`Client::consume`].
    Message(Envelope),
}

/// Why something was not done.
#[derive(Debug)]
pub struct Refused(&'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Refused {}

type Answer<T> = oneshot::Sender<Result<T, Refused>>;

enum Operation {
    Send {
        to: String,
        kind: &'static str,
        body: String,
        answer: Answer<String>,
    },
    Peers(Answer<Vec<String>>),
    Consume(String),
}

/// A handle; when the last one is dropped, the client ends.
#[derive(Clone)]
pub struct Client {
    operations: mpsc::UnboundedSender<Operation>,
}

impl Client {
    /// Returns the handle, and what has to be run. Refuses a configuration with
    /// which it could neither register nor verify anything.
    pub fn new(
        config: Config,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<(Self, impl Future<Output = ()>), Refused> {
        if config.name.is_empty() {
            return Err(Refused("the name is empty"));
        }
        if config.secret.len() < MIN_SECRET {
            return Err(Refused("the secret has less than 32 bytes"));
        }
        let scheme = config.url.split_once("://").map(|(scheme, _)| scheme);
        let uri = config.url.parse::<Uri>().ok();
        if !matches!(scheme, Some("ws" | "wss")) || uri.is_none_or(|uri| uri.host().is_none()) {
            return Err(Refused("the URL is no ws:// or wss:// URL"));
        }
        // For wss; the second one to do so is told that it is done already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (sender, operations) = mpsc::unbounded_channel();
        let worker = Worker {
            inbox: Inbox::new(config.cache_size),
            config,
            events,
            operations,
        };
        Ok((Self { operations: sender }, worker.run()))
    }

    /// Sends JSON text to one peer; returns the message's id.
    pub fn send(&self, to: &str, body: &str) -> oneshot::Receiver<Result<String, Refused>> {
        self.post(to, MSG, body)
    }

    /// Sends JSON text to all others.
    pub fn broadcast(&self, body: &str) -> oneshot::Receiver<Result<String, Refused>> {
        self.post(EVERYBODY, BROADCAST, body)
    }

    fn post(
        &self,
        to: &str,
        kind: &'static str,
        body: &str,
    ) -> oneshot::Receiver<Result<String, Refused>> {
        let (answer, answered) = oneshot::channel();
        let _ = self.operations.send(Operation::Send {
            to: to.to_owned(),
            kind,
            body: body.to_owned(),
            answer,
        });
        answered
    }

    pub fn peers(&self) -> oneshot::Receiver<Result<Vec<String>, Refused>> {
        let (answer, answered) = oneshot::channel();
        let _ = self.operations.send(Operation::Peers(answer));
        answered
    }

    /// The host is done with that message: it may be acknowledged.
    pub fn consume(&self, id: &str) {
        let _ = self.operations.send(Operation::Consume(id.to_owned()));
    }
}

/// Dedupe and acknowledgement (5): what the host has, and what it had.
struct Inbox {
    size: usize,
    seen: HashSet<String>,
    order: VecDeque<String>,
    /// Surfaced, not consumed: under which keys it was delivered.
    unconsumed: HashMap<String, Vec<String>>,
}

enum Verdict {
    Surface,
    Suppress,
    /// A duplicate of what was consumed.
    Acknowledge,
}

impl Inbox {
    fn new(size: usize) -> Self {
        Self {
            size: size.max(1),
            seen: HashSet::new(),
            order: VecDeque::new(),
            unconsumed: HashMap::new(),
        }
    }

    /// Takes note of a verified message.
    fn take(&mut self, id: &str, key: &str) -> Verdict {
        if let Some(keys) = self.unconsumed.get_mut(id) {
            if !keys.iter().any(|known| known == key) {
                keys.push(key.to_owned());
            }
            return Verdict::Suppress;
        }
        if !self.seen.insert(id.to_owned()) {
            return Verdict::Acknowledge;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > self.size {
            let oldest = self.order.pop_front();
            oldest.map(|id| self.seen.remove(&id));
        }
        self.unconsumed.insert(id.to_owned(), vec![key.to_owned()]);
        Verdict::Surface
    }

    /// The keys to be acknowledged.
    fn consume(&mut self, id: &str) -> Vec<String> {
        self.unconsumed.remove(id).unwrap_or_default()
    }
}

struct Worker {
    config: Config,
    events: mpsc::UnboundedSender<Event>,
    operations: mpsc::UnboundedReceiver<Operation>,
    inbox: Inbox,
}

/// The client was dropped.
struct Dropped;

impl Worker {
    async fn run(mut self) {
        let _ = self.stay().await;
    }

    async fn stay(&mut self) -> Result<(), Dropped> {
        let mut attempts = 0;
        loop {
            let dial = connect(self.config.clone());
            if let Some(socket) = self.meanwhile(dial).await? {
                attempts = 0;
                let _ = self.events.send(Event::Connected(true));
                self.converse(socket).await?;
                let _ = self.events.send(Event::Connected(false));
            }
            let first = self.config.backoff;
            let wait = first
                .saturating_mul(1 << attempts.min(16))
                .min(MAX_BACKOFF.max(first));
            attempts += 1;
            self.meanwhile(sleep(wait.mul_f64(rand::random_range(1.0..1.5))))
                .await?;
        }
    }

    /// Waits for something without a connection.
    async fn meanwhile<T>(&mut self, future: impl Future<Output = T>) -> Result<T, Dropped> {
        let mut future = pin!(future);
        loop {
            tokio::select! {
                result = &mut future => return Ok(result),
                operation = self.operations.recv() => self.refuse(operation.ok_or(Dropped)?),
            }
        }
    }

    fn refuse(&mut self, operation: Operation) {
        let reason = || Refused("not connected");
        match operation {
            Operation::Send { answer, .. } => drop(answer.send(Err(reason()))),
            Operation::Peers(answer) => drop(answer.send(Err(reason()))),
            // Acknowledged when it is delivered again.
            Operation::Consume(id) => drop(self.inbox.consume(&id)),
        }
    }

    /// Until the connection is gone.
    async fn converse(&mut self, mut socket: Socket) -> Result<(), Dropped> {
        // Replies come in the order of the requests.
        let mut asked: VecDeque<Answer<Vec<String>>> = VecDeque::new();
        let mut ping = interval_at(Instant::now() + PING, PING);
        let mut heard = Instant::now();
        loop {
            let room = self.inbox.unconsumed.len() < MAX_UNCONSUMED;
            tokio::select! {
                message = socket.next(), if room => {
                    heard = Instant::now();
                    let done = match message {
                        Some(Ok(Message::Text(text))) => {
                            self.receive(&mut socket, &text, &mut asked).await
                        }
                        Some(Ok(_)) => Ok(()), // of no meaning (1)
                        Some(Err(Error::Capacity(_))) => {
                            let close = CloseFrame { code: 1009.into(), reason: "over 1 MiB".into() };
                            let _ = timeout(Duration::from_secs(1), socket.close(Some(close))).await;
                            return Ok(());
                        }
                        Some(Err(_)) | None => return Ok(()),
                    };
                    if done.is_err() {
                        return Ok(());
                    }
                }
                operation = self.operations.recv() => {
                    let Some(operation) = operation else {
                        let _ = timeout(Duration::from_secs(1), socket.close(None)).await;
                        return Err(Dropped);
                    };
                    if self.perform(&mut socket, operation, &mut asked).await.is_err() {
                        return Ok(());
                    }
                }
                _ = ping.tick() => {
                    if room && heard.elapsed() > 3 * PING {
                        return Ok(());
                    }
                    if socket.send(Message::Ping(Default::default())).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn receive(
        &mut self,
        socket: &mut Socket,
        text: &str,
        asked: &mut VecDeque<Answer<Vec<String>>>,
    ) -> Result<(), Error> {
        match Reply::parse(text) {
            Ok(Reply::Peers(names)) => {
                if let Some(answer) = asked.pop_front() {
                    let _ = answer.send(Ok(names));
                }
                Ok(())
            }
            // Without a key there is nothing to acknowledge: dropped (2.4), as is
            // what cannot be verified (4).
            Ok(Reply::Deliver {
                key,
                envelope: Ok(envelope),
            }) if !key.is_empty()
                && envelope.is_known()
                && envelope.verify(&self.config.secret) =>
            {
                match self.inbox.take(&envelope.id, &key) {
                    Verdict::Surface => {
                        let _ = self.events.send(Event::Message(envelope));
                        Ok(())
                    }
                    Verdict::Suppress => Ok(()),
                    Verdict::Acknowledge => socket.send(Message::text(frame::ack(&key))).await,
                }
            }
            _ => Ok(()),
        }
    }

    async fn perform(
        &mut self,
        socket: &mut Socket,
        operation: Operation,
        asked: &mut VecDeque<Answer<Vec<String>>>,
    ) -> Result<(), Error> {
        match operation {
            Operation::Send {
                to,
                kind,
                body,
                answer,
            } => {
                let envelope = match self.envelope(to, kind, &body) {
                    Ok(envelope) => envelope,
                    Err(refused) => {
                        let _ = answer.send(Err(refused));
                        return Ok(());
                    }
                };
                let result = socket.send(Message::text(envelope.to_wire())).await;
                let _ = answer.send(match result {
                    Ok(()) => Ok(envelope.id),
                    Err(_) => Err(Refused("the connection is lost")),
                });
                result
            }
            Operation::Peers(answer) => {
                asked.push_back(answer);
                socket.send(Message::text(frame::peers_request())).await
            }
            Operation::Consume(id) => {
                for key in self.inbox.consume(&id) {
                    socket.feed(Message::text(frame::ack(&key))).await?;
                }
                socket.flush().await
            }
        }
    }

    fn envelope(&self, to: String, kind: &str, body: &str) -> Result<Envelope, Refused> {
        let body = if body.is_empty() { "null" } else { body };
        if !json::is_value(body) {
            return Err(Refused("the body is no JSON"));
        }
        if to.is_empty() || (to == EVERYBODY) != (kind == BROADCAST) {
            return Err(Refused("no peer has that name"));
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut envelope = Envelope {
            protocol_version: VERSION.to_owned(),
            id: Uuid::now_v7().to_string(),
            from: self.config.name.clone(),
            to,
            ts: format!("{}.{:03}", now.as_secs(), now.subsec_millis()),
            source: "peer-bus".to_owned(),
            kind: kind.to_owned(),
            body: json::compact(body),
            hmac: String::new(),
        };
        envelope.hmac = envelope.sign(&self.config.secret);
        // What no recipient could read is not worth sending (1).
        let name = if kind == BROADCAST {
            1 + LONGEST_NAME
        } else {
            0
        };
        let delivered = frame::deliver(&envelope.id, &envelope.to_wire()).len() + name;
        if delivered > MAX_MESSAGE {
            return Err(Refused("the message is too long"));
        }
        Ok(envelope)
    }
}

/// Dials, registers and reads one frame: `peers` or nothing (2.1).
async fn connect(config: Config) -> Option<Socket> {
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let handshake = async {
        let (mut socket, _) = connect_async_with_config(&config.url, Some(limits), true)
            .await
            .ok()?;
        let register = frame::register(&config.token, &config.name);
        socket.send(Message::text(register)).await.ok()?;
        loop {
            match socket.next().await? {
                Ok(Message::Text(text)) => {
                    return match Reply::parse(&text) {
                        Ok(Reply::Peers(_)) => Some(socket),
                        _ => None,
                    };
                }
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    };
    timeout(HANDSHAKE_TIMEOUT, handshake).await.ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_after_it_was_consumed() {
        let mut inbox = Inbox::new(2);
        assert!(matches!(inbox.take("a", "a"), Verdict::Surface));
        assert!(matches!(inbox.take("a", "a|n"), Verdict::Suppress));
        assert!(matches!(inbox.take("a", "a"), Verdict::Suppress));
        assert_eq!(inbox.consume("a"), ["a", "a|n"]);
        assert!(inbox.consume("a").is_empty());
        assert!(matches!(inbox.take("a", "a"), Verdict::Acknowledge));
        // Only so many are remembered; one in the hands of the host always is.
        for id in ["b", "c", "d"] {
            assert!(matches!(inbox.take(id, "k"), Verdict::Surface));
        }
        assert!(matches!(inbox.take("b", "k"), Verdict::Suppress));
        assert!(matches!(inbox.take("a", "a"), Verdict::Surface));
    }
}
