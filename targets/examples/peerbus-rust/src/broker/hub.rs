//! The hub: who is connected, what is pending, what goes where.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, UnboundedSender};
use tokio::sync::oneshot;

use super::audit::Audit;
use super::store::{Record, Row, State, Store};
use crate::envelope::{BROADCAST, Envelope};
use crate::frame::{self, Register};

/// How many commands are stored with one write to the disk.
const BATCH: usize = 256;

/// A connection that does not read so many replies is dropped.
const MAX_REPLIES: usize = 4096;

/// What a connection tells the hub.
pub enum Command {
    Register {
        connection: u64,
        register: Register,
        out: UnboundedSender<Out>,
        /// Ends the connection at once.
        kick: oneshot::Sender<()>,
    },
    Ack {
        connection: u64,
        id: String,
    },
    Peers {
        connection: u64,
    },
    Envelope {
        connection: u64,
        envelope: Envelope,
        text: String,
    },
    Gone {
        connection: u64,
    },
}

/// What goes out on a connection.
pub enum Out {
    /// The second one counts the replies under way.
    Reply {
        text: String,
        _count: Arc<()>,
    },
    Deliver(Arc<Row>),
    Close(u16, &'static str),
}

/// A registered connection; it may have lost its name to a newer one.
struct Session {
    name: String,
    token: String,
    out: UnboundedSender<Out>,
    replies: Arc<()>,
    kick: oneshot::Sender<()>,
}

pub struct Hub {
    store: Store,
    state: State,
    audit: Audit,
    tokens: HashSet<String>,
    sessions: HashMap<u64, Session>,
    names: HashMap<String, u64>,
    /// What waits for the disk.
    outbox: Vec<(UnboundedSender<Out>, Out)>,
}

impl Hub {
    pub fn new(store: Store, state: State, audit: Audit, tokens: HashSet<String>) -> Self {
        Self {
            store,
            state,
            audit,
            tokens,
            sessions: HashMap::new(),
            names: HashMap::new(),
            outbox: Vec::new(),
        }
    }

    pub fn run(mut self, mut commands: Receiver<Command>) -> io::Result<()> {
        while let Some(command) = commands.blocking_recv() {
            self.handle(command);
            for _ in 1..BATCH {
                let Ok(command) = commands.try_recv() else {
                    break;
                };
                self.handle(command);
            }
            // First on the disk, then on the wire (5).
            self.store.commit(&self.state)?;
            self.audit.commit()?;
            for (out, what) in self.outbox.drain(..) {
                let _ = out.send(what); // or it is gone by now
            }
        }
        Ok(())
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Register {
                connection,
                register,
                out,
                kick,
            } => self.register(connection, register, out, kick),
            Command::Ack { connection, id } => self.ack(connection, id),
            Command::Peers { connection } => self.reply_peers(connection),
            Command::Envelope {
                connection,
                envelope,
                text,
            } => self.route(connection, envelope, &text),
            Command::Gone { connection } => self.gone(connection),
        }
    }

    fn change(&mut self, record: Record) {
        self.store.append(&record);
        self.state.apply(record);
    }

    fn register(
        &mut self,
        connection: u64,
        register: Register,
        out: UnboundedSender<Out>,
        kick: oneshot::Sender<()>,
    ) {
        let Register { token, name, .. } = register;
        if !self.tokens.contains(&token) {
            self.outbox.push((out, Out::Close(4401, "invalid token")));
            return;
        }
        if let Some(&older) = self.names.get(&name) {
            if self.sessions[&older].token != token {
                self.outbox.push((out, Out::Close(4409, "name taken")));
                return;
            }
            // Takeover: what the old connection has not acknowledged is still
            // pending, and so goes to the new one below.
            self.kick(older);
        }
        if !self.state.peers.contains(&name) {
            self.change(Record::Peer(name.clone()));
        }
        self.names.insert(name.clone(), connection);
        let session = Session {
            name: name.clone(),
            token,
            out,
            replies: Arc::new(()),
            kick,
        };
        self.sessions.insert(connection, session);
        self.reply_peers(connection);
        for row in self.state.pending(&name) {
            self.deliver(row);
        }
    }

    fn gone(&mut self, connection: u64) {
        if let Some(session) = self.sessions.remove(&connection) {
            self.names.remove(&session.name);
        }
    }

    fn kick(&mut self, connection: u64) {
        if let Some(session) = self.sessions.remove(&connection) {
            self.names.remove(&session.name);
            let _ = session.kick.send(());
        }
    }

    fn reply_peers(&mut self, connection: u64) {
        let Some(session) = self.sessions.get(&connection) else {
            return;
        };
        if Arc::strong_count(&session.replies) > MAX_REPLIES {
            return self.kick(connection);
        }
        let text = frame::peers(self.names.keys().map(String::as_str));
        let reply = Out::Reply {
            text,
            _count: session.replies.clone(),
        };
        self.outbox.push((session.out.clone(), reply));
    }

    // Only the recipient settles its own rows.
    fn ack(&mut self, connection: u64, key: String) {
        let Some(session) = self.sessions.get(&connection) else {
            return;
        };
        let to = session.name.clone();
        if key.is_empty() {
            return;
        }
        self.audit.add("ack", &key, &to, &to);
        if self.state.has_row(&to, &key) {
            self.change(Record::Ack { to, key });
        }
    }

    fn route(&mut self, connection: u64, envelope: Envelope, text: &str) {
        // Who sends is who registered, not who `from` says (3).
        let Some(session) = self.sessions.get(&connection) else {
            return;
        };
        let from = session.name.clone();
        let Envelope { id, to, kind, .. } = &envelope;
        if id.is_empty() || to.is_empty() || !envelope.is_known() || self.state.is_used(id) {
            return;
        }
        let copies: Vec<(String, String)> = if kind == BROADCAST {
            let others = self.names.keys().filter(|name| **name != from);
            others
                .map(|name| (format!("{id}|{name}"), name.clone()))
                .collect()
        } else if self.state.peers.contains(to) {
            vec![(id.clone(), to.clone())]
        } else {
            Vec::new()
        };
        if copies.is_empty() {
            return;
        }
        let id = id.clone();
        let envelope: Arc<str> = text.trim_ascii().into();
        for (key, to) in copies {
            if self.state.has_row(&to, &key) {
                continue;
            }
            self.audit.add("send", &key, &from, &to);
            let row = Row {
                key,
                from: from.clone(),
                to: to.clone(),
                envelope: envelope.clone(),
            };
            self.change(Record::Put(row));
            if let Some(row) = self.state.newest(&to) {
                self.deliver(row);
            }
        }
        self.change(Record::Used(id)); // last: a journal cut before this loses no message
    }

    fn deliver(&mut self, row: Arc<Row>) {
        let Some(connection) = self.names.get(&row.to) else {
            return;
        };
        self.audit.add("deliver", &row.key, &row.from, &row.to);
        let out = self.sessions[connection].out.clone();
        self.outbox.push((out, Out::Deliver(row)));
    }
}
