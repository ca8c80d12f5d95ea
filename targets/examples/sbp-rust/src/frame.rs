//! Frames and their bytes. One transport message is one frame.

use std::fmt;

use crate::handshake::Handshake;

/// The recommended maximum of a frame (SBP-LIM-01).
pub const MAX_FRAME: usize = 1 << 20;

pub const PROTOCOL_VIOLATION: u16 = 1000;
pub const UNSUPPORTED_VERSION: u16 = 1001;
pub const INVALID_FRAME: u16 = 1002;

const HAS_TS: u8 = 1;

/// Sixteen bytes without a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameId(pub [u8; 16]);

impl FrameId {
    /// A fresh one, of the system's randomness.
    pub fn random() -> Self {
        let mut id = [0; 16];
        getrandom::fill(&mut id).expect("the system has randomness");
        FrameId(id)
    }
}

impl fmt::Debug for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub id: FrameId,
    /// Milliseconds since the epoch; advisory.
    pub ts: Option<i64>,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Handshake(Handshake),
    Ping,
    Pong,
    Close {
        reason: Option<String>,
    },
    /// An op from 4 to 255, which a later v1 may define: read, never written (SBP-CTRL-03, SBP-CTRL-04).
    Reserved {
        op: u8,
        data: Vec<u8>,
    },
    Message {
        subject: String,
        data: Vec<u8>,
    },
    Ack(FrameId),
    Error {
        code: u16,
        message: String,
        details: Vec<u8>,
    },
}

/// Bytes that are no frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed {
    pub reason: String,
    /// Of the frame, if that much was there.
    pub id: Option<FrameId>,
}

impl Frame {
    /// A frame with a fresh id and no timestamp.
    pub fn new(body: Body) -> Self {
        Frame { id: FrameId::random(), ts: None, body }
    }

    /// The bytes; an error is for what has none.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let (kind, payload) = self.payload()?;
        let mut out = Vec::with_capacity(26 + payload.len());
        out.extend([kind, if self.ts.is_some() { HAS_TS } else { 0 }]);
        out.extend(self.id.0);
        if let Some(ts) = self.ts {
            out.extend(ts.to_le_bytes()); // behind the id, whatever its value (SBP-TS-05)
        }
        out.extend(payload);
        Ok(out)
    }

    fn payload(&self) -> Result<(u8, Vec<u8>), String> {
        Ok(match &self.body {
            Body::Handshake(h) => (0, [vec![0], h.write()?].concat()),
            Body::Ping => (0, vec![1]),
            Body::Pong => (0, vec![2]),
            Body::Close { reason } => (0, [&[3], reason.as_deref().unwrap_or("").as_bytes()].concat()),
            Body::Reserved { op, .. } => return Err(format!("control op {op} is reserved")),
            Body::Message { subject, .. } if subject.is_empty() => return Err("the subject is empty".into()),
            Body::Message { subject, data } => (1, [&length(subject)?, subject.as_bytes(), data].concat()),
            Body::Ack(id) => (2, id.0.to_vec()),
            Body::Error { code, message, details } => {
                (3, [&code.to_le_bytes(), &length(message)?[..], message.as_bytes(), details].concat())
            }
        })
    }

    /// Reads a frame. Nothing is allocated by a length that is only claimed (SBP-MSG-06).
    pub fn decode(wire: &[u8]) -> Result<Self, Malformed> {
        let mut rest = wire;
        let mut id = None;
        Self::read(&mut rest, &mut id).map_err(|reason| Malformed { reason, id })
    }

    fn read(rest: &mut &[u8], seen: &mut Option<FrameId>) -> Result<Self, String> {
        let [kind, flags] = take(rest, "header")?;
        let id = FrameId(take(rest, "id")?);
        *seen = Some(id);
        if flags & !HAS_TS != 0 {
            return Err("a reserved flag bit is set".into()); // SBP-FLAGS-04
        }
        let ts = if flags & HAS_TS != 0 { Some(i64::from_le_bytes(take(rest, "timestamp")?)) } else { None };
        let body = match kind {
            0 => control(rest)?,
            1 => {
                let subject = text(rest, "subject")?;
                if subject.is_empty() {
                    return Err("the subject is empty".into()); // SBP-MSG-05
                }
                Body::Message { subject, data: rest.to_vec() }
            }
            2 => {
                let ack = FrameId(take(rest, "acknowledged id")?);
                nothing(rest)?;
                Body::Ack(ack)
            }
            3 => {
                let code = u16::from_le_bytes(take(rest, "code")?);
                Body::Error { code, message: text(rest, "message")?, details: rest.to_vec() }
            }
            _ => return Err(format!("frame kind {kind} is unknown")),
        };
        Ok(Frame { id, ts, body })
    }
}

fn control(rest: &mut &[u8]) -> Result<Body, String> {
    let [op] = take(rest, "control op")?;
    Ok(match op {
        0 => Body::Handshake(Handshake::parse(rest)?),
        1 | 2 => {
            nothing(rest)?; // SBP-PING-02
            if op == 1 { Body::Ping } else { Body::Pong }
        }
        3 if rest.is_empty() => Body::Close { reason: None },
        3 => Body::Close { reason: Some(utf8(rest, "reason")?) },
        op => Body::Reserved { op, data: rest.to_vec() },
    })
}

fn length(text: &str) -> Result<[u8; 4], String> {
    let n = u32::try_from(text.len()).map_err(|_| "a text is too long")?;
    Ok(n.to_le_bytes())
}

/// The next N bytes.
fn take<const N: usize>(rest: &mut &[u8], what: &str) -> Result<[u8; N], String> {
    let (head, tail) = rest.split_first_chunk().ok_or_else(|| format!("the {what} is cut off"))?;
    *rest = tail;
    Ok(*head)
}

/// A text behind its length.
fn text(rest: &mut &[u8], what: &str) -> Result<String, String> {
    let n = u32::from_le_bytes(take(rest, what)?);
    let (head, tail) = usize::try_from(n)
        .ok()
        .and_then(|n| rest.split_at_checked(n))
        .ok_or_else(|| format!("the {what} is longer than the frame"))?;
    *rest = tail;
    utf8(head, what)
}

fn utf8(bytes: &[u8], what: &str) -> Result<String, String> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| format!("the {what} is not UTF-8"))
}

fn nothing(rest: &[u8]) -> Result<(), String> {
    if rest.is_empty() { Ok(()) } else { Err("there are bytes behind the frame".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unhex(s: &str) -> Vec<u8> {
        (0..s.len()).step_by(2).map(|i| u8::from_str_radix(&s[i..i + 2], 16).unwrap()).collect()
    }

    const A: &str = "000102030405060708090a0b0c0d0e0f";

    /// The vectors, with A for the id: each is read, and written again to the same bytes.
    #[test]
    fn vectors() {
        let b = FrameId(std::array::from_fn(|i| 0xf0 + i as u8));
        let message = |subject: &str, data: &[u8]| Body::Message { subject: subject.into(), data: data.into() };
        let error = |code, message: &str, details: &[u8]| Body::Error {
            code,
            message: message.into(),
            details: details.into(),
        };
        for (wire, ts, body) in [
            ("0000A01", None, Body::Ping),
            ("0001A7b68e5cf8b01000001", Some(1700000000123), Body::Ping),
            ("0001Affffffffffffffff02", Some(-1), Body::Pong),
            ("0000A03", None, Body::Close { reason: None }),
            ("0000A03627965", None, Body::Close { reason: Some("bye".into()) }),
            (
                "0000A007b2270726f746f636f6c223a227369646562616e64222c2276657273696f6e223a2231222c22706565724964223a22706565722d61227d",
                None,
                Body::Handshake(Handshake::new("peer-a".into(), None, None)),
            ),
            ("0100A050000006170702f780102ff", None, message("app/x", &[1, 2, 255])),
            ("0101A7b68e5cf8b010000050000006170702f78", Some(1700000000123), message("app/x", &[])),
            ("0100A060000006170702fc3a900", None, message("app/é", &[0])),
            ("0200Af0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", None, Body::Ack(b)),
            ("0201A0000000000000000f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", Some(0), Body::Ack(b)),
            ("0300Aea0303000000626164", None, error(1002, "bad", &[])),
            ("0300Ad00702000000c3a9dead", None, error(2000, "é", &[0xde, 0xad])),
            ("0300Ae80300000000", None, error(1000, "", &[])),
        ] {
            let wire = unhex(&wire.replacen('A', A, 1));
            let frame = Frame { id: FrameId(unhex(A).try_into().unwrap()), ts, body };
            assert_eq!(Frame::decode(&wire).as_ref(), Ok(&frame));
            assert_eq!(frame.encode().as_ref(), Ok(&wire));
        }
    }

    #[test]
    fn malformed() {
        for wire in [
            "",
            "00",
            "000001",
            "0000A",
            "0002A01",
            "0080A01",
            "0003A000000000000000001",
            "0001A00000000000000",
            "0400A",
            "ff00A",
            "0000A0100",
            "0000A02ff",
            "0000A00",
            "0000A007b7d",
            "0000A005b5d",
            "0000A03ff",
            "0100A000000",
            "0100A00000000",
            "0100A060000006170702f78",
            "0100Affffffff",
            "0100A00000080",
            "0100A050000006170702fff",
            "0100A03000000eda080",
            "0200A000102030405060708090a0b0c0d0e",
            "0200A000102030405060708090a0b0c0d0e0f10",
            "0300Ae803000000",
            "0300Ae80314000000010203",
            "0300Ae803ffffffff",
        ] {
            let bytes = unhex(&wire.replacen('A', A, 1));
            let error = Frame::decode(&bytes).expect_err(wire);
            assert_eq!(error.id.is_some(), bytes.len() >= 18, "{wire}");
        }
        for flags in 2..=255u8 {
            let mut wire = unhex(&format!("0000{A}01"));
            wire[1] = flags;
            assert!(Frame::decode(&wire).is_err());
        }
    }

    #[test]
    fn reserved_ops_are_read_and_not_written() {
        let frame = Frame::decode(&unhex(&format!("0000{A}04ff"))).unwrap();
        assert_eq!(frame.body, Body::Reserved { op: 4, data: vec![255] });
        assert!(frame.encode().is_err());
    }

    #[test]
    fn handshakes() {
        let parse = |s: &str| Handshake::parse(s.as_bytes());
        let good =
            r#"{"x":[1],"peerId":"p","version":"2","protocol":"q","caps":["zz"],"metadata":{"v:z":{"a":1},"bare":2}}"#;
        let h = parse(good).unwrap();
        assert!(!h.is_supported());
        assert!(h.write().is_err(), "bare has no namespace");
        for bad in [
            "",
            "null",
            "[]",
            "{}",
            r#"{"protocol":"sideband","version":1,"peerId":"p"}"#,
            r#"{"protocol":"sideband","version":"1"}"#,
            r#"{"protocol":null,"version":"1","peerId":"p"}"#,
            r#"{"protocol":"sideband","version":"1","peerId":"p","caps":"x"}"#,
            r#"{"protocol":"sideband","version":"1","peerId":"p","caps":[1]}"#,
            r#"{"protocol":"sideband","version":"1","peerId":"p","metadata":[]}"#,
            r#"{"protocol":"sideband","version":"1","peerId":"p"}{}"#,
            "\u{feff}{\"protocol\":\"sideband\",\"version\":\"1\",\"peerId\":\"p\"}",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let deep = format!(r#"{{"x":{}}}"#, "[".repeat(100_000));
        assert!(parse(&deep).is_err());
    }

    /// Every cut and every changed byte of a frame is either refused or read.
    #[test]
    fn nothing_panics() {
        let frame =
            Frame { ts: Some(5), ..Frame::new(Body::Error { code: 7, message: "é".into(), details: vec![1, 2] }) };
        let wire = frame.encode().unwrap();
        for end in 0..wire.len() {
            let _ = Frame::decode(&wire[..end]);
        }
        for at in 0..wire.len() {
            for value in 0..=255 {
                let mut changed = wire.clone();
                changed[at] = value;
                let _ = Frame::decode(&changed);
            }
        }
    }
}
