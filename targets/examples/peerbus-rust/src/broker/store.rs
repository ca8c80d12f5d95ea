//! What outlives the broker: an append-only journal of JSON lines, and the state
//! that it adds up to.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How many ids of settled messages are remembered, to tell a duplicate.
const REMEMBERED: usize = 100_000;

/// The journal is written anew if it has so many records too many.
const WASTE: usize = 20_000;

/// One change of the state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Record {
    /// A name was registered for the first time.
    Peer(String),
    /// A message for one recipient was taken.
    Put(Row),
    /// That recipient is done with it.
    Ack { to: String, key: String },
    /// An id that was used.
    Used(String),
}

/// One message for one recipient. `from` is who sent it, whatever it says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    pub key: String,
    pub from: String,
    pub to: String,
    /// The very text that the sender sent.
    pub envelope: Arc<str>,
}

#[derive(Debug, Default)]
pub struct State {
    pub peers: HashSet<String>,
    queues: HashMap<String, Queue>,
    used: HashSet<String>,
    used_order: VecDeque<String>,
    next: u64,
    rows: usize,
}

/// What one recipient has not acknowledged, in the order of arrival.
#[derive(Debug, Default)]
struct Queue {
    rows: BTreeMap<u64, Arc<Row>>,
    numbers: HashMap<String, u64>,
}

impl State {
    pub fn is_used(&self, id: &str) -> bool {
        self.used.contains(id)
    }

    /// A recipient has its own row keys: one that another one acknowledges, or
    /// that happens to be spelled the same, is not touched.
    pub fn has_row(&self, to: &str, key: &str) -> bool {
        (self.queues.get(to)).is_some_and(|queue| queue.numbers.contains_key(key))
    }

    /// All that a recipient has not acknowledged: one sender after the other,
    /// and of each in the order in which it was sent (5).
    pub fn pending(&self, to: &str) -> Vec<Arc<Row>> {
        let queue = self.queues.get(to);
        let mut rows: Vec<_> = queue
            .into_iter()
            .flat_map(|q| q.rows.values().cloned())
            .collect();
        rows.sort_by(|a, b| b.from.cmp(&a.from)); // stable
        rows
    }

    pub fn newest(&self, to: &str) -> Option<Arc<Row>> {
        self.queues.get(to)?.rows.values().next_back().cloned()
    }

    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Peer(name) => {
                self.peers.insert(name);
            }
            Record::Put(row) => {
                let queue = self.queues.entry(row.to.clone()).or_default();
                queue.numbers.insert(row.key.clone(), self.next);
                queue.rows.insert(self.next, Arc::new(row));
                self.next += 1;
                self.rows += 1;
            }
            Record::Ack { to, key } => {
                let Some(queue) = self.queues.get_mut(&to) else {
                    return;
                };
                if let Some(number) = queue.numbers.remove(&key) {
                    queue.rows.remove(&number);
                    self.rows -= 1;
                }
                if queue.rows.is_empty() {
                    self.queues.remove(&to);
                }
            }
            Record::Used(id) => {
                if self.used.insert(id.clone()) {
                    self.used_order.push_back(id);
                }
                if self.used_order.len() > REMEMBERED {
                    let oldest = self.used_order.pop_front();
                    oldest.map(|id| self.used.remove(&id));
                }
            }
        }
    }

    /// The fewest records that add up to this state.
    fn records(&self) -> impl Iterator<Item = Record> {
        let peers = self.peers.iter().cloned().map(Record::Peer);
        let used = self.used_order.iter().cloned().map(Record::Used);
        let rows = (self.queues.values())
            .flat_map(|queue| queue.rows.values())
            .map(|row| Record::Put(Row::clone(row)));
        peers.chain(used).chain(rows)
    }

    fn len(&self) -> usize {
        self.peers.len() + self.used.len() + self.rows
    }
}

pub struct Store {
    path: PathBuf,
    journal: File,
    records: usize,
    buffer: Vec<u8>,
    _lock: File,
}

impl Store {
    pub fn open(folder: &Path) -> io::Result<(Self, State)> {
        let lock = File::create(folder.join("lock"))?;
        lock.try_lock()
            .map_err(|_| io::Error::other("another broker uses that folder"))?;
        let path = folder.join("journal");
        let state = read(&path)?;
        let journal = write_anew(&path, &state)?;
        let store = Self {
            path,
            journal,
            records: state.len(),
            buffer: Vec::new(),
            _lock: lock,
        };
        Ok((store, state))
    }

    pub fn append(&mut self, record: &Record) {
        serde_json::to_writer(&mut self.buffer, record).expect("records are JSON");
        self.buffer.push(b'\n');
        self.records += 1;
    }

    /// On return all that was appended is on the disk.
    pub fn commit(&mut self, state: &State) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if self.records > 2 * state.len() + WASTE {
            self.journal = write_anew(&self.path, state)?;
            self.records = state.len();
        } else {
            self.journal.write_all(&self.buffer)?;
            self.journal.sync_data()?;
        }
        self.buffer.clear();
        Ok(())
    }
}

/// A last line without its end was never answered for: it counts for nothing.
fn read(path: &Path) -> io::Result<State> {
    let mut state = State::default();
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(state),
        file => file?,
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        if line.last() != Some(&b'\n') {
            break;
        }
        state.apply(serde_json::from_slice(&line)?);
        line.clear();
    }
    Ok(state)
}

fn write_anew(path: &Path, state: &State) -> io::Result<File> {
    let temporary = path.with_extension("new");
    let mut writer = io::BufWriter::new(File::create(&temporary)?);
    for record in state.records() {
        serde_json::to_writer(&mut writer, &record)?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner()?.sync_all()?;
    fs::rename(&temporary, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
    OpenOptions::new().append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, from: &str, to: &str) -> Record {
        Record::Put(Row {
            key: key.into(),
            from: from.into(),
            to: to.into(),
            envelope: "{\n}".into(),
        })
    }

    #[test]
    fn what_was_committed_is_there_again() {
        let folder = std::env::temp_dir().join(format!("peerbus-{}", uuid::Uuid::now_v7()));
        fs::create_dir_all(&folder).unwrap();
        let (mut store, mut state) = Store::open(&folder).unwrap();
        assert!(Store::open(&folder).is_err(), "two brokers");
        let ack = Record::Ack {
            to: "b".into(),
            key: "2".into(),
        };
        for record in [
            row("1", "x", "b"),
            row("2", "y", "b"),
            row("3", "y", "b"),
            row("4", "x", "b"),
            ack,
        ] {
            store.append(&record);
            state.apply(record);
        }
        store.commit(&state).unwrap();
        store.journal.write_all(b"{\"Peer\":\"to").unwrap(); // killed while writing
        drop(store);
        let (_store, state) = Store::open(&folder).unwrap();
        let keys: Vec<_> = state
            .pending("b")
            .iter()
            .map(|row| row.key.clone())
            .collect();
        assert_eq!(keys, ["3", "1", "4"]);
        assert!(!state.has_row("b", "2") && !state.has_row("c", "1"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn ids_are_forgotten_in_the_end() {
        let mut state = State::default();
        for i in 0..REMEMBERED + 1 {
            state.apply(Record::Used(i.to_string()));
        }
        assert!(!state.is_used("0") && state.is_used("1"));
        assert_eq!(state.len(), REMEMBERED);
    }
}
