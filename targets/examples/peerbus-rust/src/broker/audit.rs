//! The audit chain (6): each line is a hash and an event, and the hash covers the
//! event and the hash before it. It is written after the journal, by itself.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use crate::json::quote;

pub struct Audit {
    file: File,
    last: String,
    buffer: String,
}

impl Audit {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)?;
        let mut last = blake3::hash(b"").to_hex().to_string();
        let mut whole = 0;
        let mut reader = BufReader::new(&file);
        let mut line = String::new();
        // A last line without its end is cut off.
        while reader.read_line(&mut line)? > 0 && line.ends_with('\n') {
            whole += line.len() as u64;
            if let Some((hash, _)) = line.split_once(' ') {
                last = hash.to_owned();
            }
            line.clear();
        }
        file.set_len(whole)?;
        Ok(Self {
            file,
            last,
            buffer: String::new(),
        })
    }

    pub fn add(&mut self, event: &str, key: &str, from: &str, to: &str) {
        let (key, from, to) = (quote(key), quote(from), quote(to));
        let event = format!(r#"{{"event":"{event}","id":{key},"from":{from},"to":{to}}}"#);
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.last.as_bytes()).update(event.as_bytes());
        self.last = hasher.finalize().to_hex().to_string();
        self.buffer.push_str(&format!("{} {event}\n", self.last));
    }

    pub fn commit(&mut self) -> io::Result<()> {
        self.file.write_all(self.buffer.as_bytes())?;
        self.buffer.clear();
        Ok(())
    }
}
