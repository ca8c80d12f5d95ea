//! Connections: WebSocket on one side, the hub on the other.

use std::io;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config};

use super::hub::{Command, Out};
use crate::frame::{self, Register, Request};
use crate::{MAX_MESSAGE, VERSION};

const UPGRADE_TIMEOUT: Duration = Duration::from_secs(10);
const REGISTER_TIMEOUT: Duration = Duration::from_secs(30);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<TcpStream>;
type Sink = SplitSink<Socket, Message>;

/// Why the broker ends a connection: a close code, and words.
struct Ended(u16, &'static str);

pub async fn accept(listener: TcpListener, hub: mpsc::Sender<Command>) -> io::Result<()> {
    for connection in 0.. {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                eprintln!("accept: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        tokio::spawn(serve(stream, connection, hub.clone()));
    }
    Ok(())
}

async fn serve(stream: TcpStream, connection: u64, hub: mpsc::Sender<Command>) {
    let _ = stream.set_nodelay(true);
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let upgrade = accept_async_with_config(stream, Some(config));
    let Ok(Ok(socket)) = timeout(UPGRADE_TIMEOUT, upgrade).await else {
        return;
    };
    let (kick, kicked) = oneshot::channel();
    tokio::select! {
        () = converse(socket, connection, &hub, kick) => {}
        // Taken over: no close handshake, the other side may be long gone.
        Ok(()) = kicked => {}
    }
    let _ = hub.send(Command::Gone { connection }).await;
}

async fn converse(
    socket: Socket,
    connection: u64,
    hub: &mpsc::Sender<Command>,
    kick: oneshot::Sender<()>,
) {
    let (sink, mut stream) = socket.split();
    let (out, queue) = mpsc::unbounded_channel();
    let mut writer = JoinSet::new(); // ends with this conversation
    writer.spawn(write(sink, queue));
    let mut kick = Some(kick);
    let ended = tokio::select! {
        ended = read(&mut stream, connection, hub, &out, &mut kick) => ended,
        // It was told to close, or it cannot write.
        sink = writer.join_next() => {
            if let Some(Ok(Some(sink))) = sink {
                drain(sink, stream).await;
            }
            return;
        }
    };
    let Some(Ended(code, reason)) = ended else {
        return;
    };
    let _ = out.send(Out::Close(code, reason));
    if let Ok(Some(Ok(Some(sink)))) = timeout(CLOSE_TIMEOUT, writer.join_next()).await {
        drain(sink, stream).await;
    }
}

/// Reads until the connection ends, or until there is a reason to end it.
async fn read(
    stream: &mut SplitStream<Socket>,
    connection: u64,
    hub: &mpsc::Sender<Command>,
    out: &UnboundedSender<Out>,
    kick: &mut Option<oneshot::Sender<()>>,
) -> Option<Ended> {
    let register = match timeout(REGISTER_TIMEOUT, first(stream)).await {
        Ok(Ok(Some(register))) => register,
        Ok(Ok(None)) => return None,
        Ok(Err(ended)) => return Some(ended),
        Err(_) => return Some(Ended(4408, "no register in time")),
    };
    let command = Command::Register {
        connection,
        register,
        out: out.clone(),
        kick: kick.take()?,
    };
    hub.send(command).await.ok()?;
    loop {
        let text = match next(stream).await {
            Ok(Some(Message::Text(text))) => text,
            Ok(Some(_)) => continue, // of no meaning (1)
            Ok(None) => return None,
            Err(ended) => return Some(ended),
        };
        let command = match Request::parse(&text) {
            Ok(Request::Ack { id }) => Command::Ack { connection, id },
            Ok(Request::Peers) => Command::Peers { connection },
            Ok(Request::Envelope(envelope)) => Command::Envelope {
                connection,
                envelope,
                text: text.as_str().to_owned(),
            },
            // Nothing that ends a session (2.1, 2.4).
            Ok(Request::Register(_) | Request::Deliver) | Err(_) => continue,
        };
        hub.send(command).await.ok()?;
    }
}

/// The frame that has to be a register (2.1). Whose token and name it has is for
/// the hub to say.
async fn first(stream: &mut SplitStream<Socket>) -> Result<Option<Register>, Ended> {
    let text = loop {
        match next(stream).await? {
            Some(Message::Text(text)) => break text,
            Some(Message::Binary(_)) => return Err(Ended(1003, "not text")),
            Some(_) => {}
            None => return Ok(None),
        }
    };
    match Request::parse(&text) {
        Err(_) => Err(Ended(1007, "malformed")),
        Ok(Request::Register(register)) if register.version != VERSION => {
            Err(Ended(4406, "unsupported protocol_version"))
        }
        Ok(Request::Register(register)) if register.name.is_empty() => {
            Err(Ended(4400, "empty name"))
        }
        Ok(Request::Register(register)) => Ok(Some(register)),
        Ok(_) => Err(Ended(1002, "register first")),
    }
}

async fn next(stream: &mut SplitStream<Socket>) -> Result<Option<Message>, Ended> {
    match stream.next().await {
        Some(Ok(message)) => Ok(Some(message)),
        Some(Err(Error::Capacity(_))) => Err(Ended(1009, "over 1 MiB")),
        Some(Err(Error::Utf8(_))) => Err(Ended(1007, "not UTF-8")),
        Some(Err(Error::Protocol(_))) => Err(Ended(1002, "not WebSocket")),
        Some(Err(_)) | None => Ok(None),
    }
}

/// Writes what is in the queue; returns the sink once it has sent a close.
async fn write(mut sink: Sink, mut queue: UnboundedReceiver<Out>) -> Option<Sink> {
    let mut next = queue.recv().await;
    while let Some(out) = next.take() {
        let text = match &out {
            Out::Reply { text, .. } => text.clone(),
            Out::Deliver(row) => frame::deliver(&row.key, &row.envelope),
            Out::Close(code, reason) => {
                let close = CloseFrame {
                    code: (*code).into(),
                    reason: (*reason).into(),
                };
                sink.send(Message::Close(Some(close))).await.ok()?;
                return Some(sink);
            }
        };
        sink.feed(Message::text(text)).await.ok()?;
        next = queue.try_recv().ok();
        if next.is_none() {
            sink.flush().await.ok()?;
            next = queue.recv().await;
        }
    }
    None
}

/// Whoever gets a close with its own bytes unread gets a reset as well, and the
/// close may be lost to it.
async fn drain(sink: Sink, stream: SplitStream<Socket>) {
    let Ok(mut socket) = sink.reunite(stream) else {
        return;
    };
    let tcp = socket.get_mut();
    let _ = tcp.shutdown().await;
    let mut waste = vec![0; 1 << 16];
    let _ = timeout(CLOSE_TIMEOUT, async {
        while matches!(tcp.read(&mut waste).await, Ok(1..)) {}
    })
    .await;
}
