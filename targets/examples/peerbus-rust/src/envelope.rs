//! Message envelopes (3) and their signatures (4).

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::json::{self, Members};
use crate::{Malformed, VERSION, hex};

/// A message. `body` is JSON text, exactly as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    pub protocol_version: String,
    pub id: String,
    pub from: String,
    pub to: String,
    pub ts: String,
    pub source: String,
    pub kind: String,
    pub body: String,
    pub hmac: String,
}

/// The two kinds there are.
pub const MSG: &str = "msg";
pub const BROADCAST: &str = "broadcast";

/// A secret with fewer bytes is no secret: nothing verifies under it.
pub const MIN_SECRET: usize = 32;

/// The recipient of a broadcast.
pub const EVERYBODY: &str = "*";

impl Envelope {
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        Self::from_members(&Members::parse(text)?)
    }

    pub(crate) fn from_members(members: &Members) -> Result<Self, Malformed> {
        Ok(Self {
            protocol_version: members.text("protocol_version")?,
            id: members.text("id")?,
            from: members.text("from")?,
            to: members.text("to")?,
            ts: members.text("ts")?,
            source: members.text("source")?,
            kind: members.text("kind")?,
            body: members.raw("body").unwrap_or("null").to_owned(),
            hmac: members.text("hmac")?,
        })
    }

    /// Whether this version of the protocol has such a message: of this version
    /// (6), of one of the two kinds, and to everybody just if it is a broadcast.
    pub fn is_known(&self) -> bool {
        self.protocol_version == VERSION
            && match self.kind.as_str() {
                MSG => self.to != EVERYBODY,
                BROADCAST => self.to == EVERYBODY,
                _ => false,
            }
    }

    /// The signed bytes (4): eight members in this order, the body verbatim.
    pub fn canonical(&self) -> String {
        self.canonical_with(&self.body)
    }

    fn canonical_with(&self, body: &str) -> String {
        let fields = [
            ("protocol_version", &self.protocol_version),
            ("id", &self.id),
            ("from", &self.from),
            ("to", &self.to),
            ("ts", &self.ts),
            ("source", &self.source),
            ("kind", &self.kind),
        ];
        let mut text = String::with_capacity(body.len() + 256);
        for (name, value) in fields {
            text.push(if text.is_empty() { '{' } else { ',' });
            text.push_str(&format!("\"{name}\":{}", json::quote(value)));
        }
        text.push_str(",\"body\":");
        text.push_str(body);
        text.push('}');
        text
    }

    /// The signature of this message: lower-case hex.
    pub fn sign(&self, secret: &[u8]) -> String {
        hex::encode(&mac(secret, &self.canonical()).finalize().into_bytes())
    }

    /// Whether `hmac` is its signature, over the body as it stands or over the
    /// body without insignificant whitespace: a sender may do either (4). Under a
    /// missing or short secret it never is.
    pub fn verify(&self, secret: &[u8]) -> bool {
        if secret.len() < MIN_SECRET {
            return false;
        }
        let Some(signature) = hex::decode(&self.hmac) else {
            return false;
        };
        let verifies = |text: String| mac(secret, &text).verify_slice(&signature).is_ok();
        if verifies(self.canonical()) {
            return true;
        }
        let compact = json::compact(&self.body);
        compact != self.body && verifies(self.canonical_with(&compact))
    }

    /// The nine members, as they are sent.
    pub fn to_wire(&self) -> String {
        let mut text = self.canonical();
        text.pop();
        text.push_str(&format!(",\"hmac\":{}}}", json::quote(&self.hmac)));
        text
    }
}

fn mac(secret: &[u8], text: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("keys of any length");
    mac.update(text.as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

    fn envelope(from: &str, body: &str) -> Envelope {
        let text = format!(
            r#"{{"body":{body},"protocol_version":"v1","id":"m1","from":{from},"to":"bob",
            "ts":"2026-05-18T12:00:00Z","source":"peer-bus","kind":"msg","extra":0}}"#
        );
        Envelope::parse(&text).unwrap()
    }

    #[test]
    fn golden_signatures() {
        for (from, body, expected) in [
            (
                "\"alice\"",
                r#"{"text":"hello"}"#,
                "cc67242944b12e672b0032a9eb34f49817bba10b7fb6c0733c904d6fb5abee81",
            ),
            (
                "\"alice\"",
                "null",
                "89f1a0fae388235670f25df66de1e132d8d2e1303d01fac5871d649b876721d7",
            ),
            (
                "null",
                r#"{"text":"hello"}"#,
                "d7c4e00523e9d5aa348e265b237b7e48e3e456aad486f007bc9c6d973884b7bc",
            ),
            (
                r#""\/\u0041\ud83d\ude00\ud800x""#,
                r#"{"text":"hello"}"#,
                "f276789afcf89ce787f9b1ad7ed424f954dc6a714ae447ab1cae9bdffb798e29",
            ),
            (
                "\"alice\"",
                r#"{"a":1,"a":2}"#,
                "3b1931921f5fd88b74ac9f67395a65d8b6b2e6a313f05d29ebd82e6856bbd0c1",
            ),
        ] {
            assert_eq!(envelope(from, body).sign(SECRET), expected, "{from} {body}");
        }
    }

    #[test]
    fn both_readings_of_whitespace_verify() {
        let mut spaced = envelope("\"alice\"", r#"{"z": 1, "a":[ 1 , 2 ]}"#);
        spaced.hmac = spaced.sign(SECRET).to_uppercase();
        assert!(spaced.verify(SECRET));
        spaced.hmac = envelope("\"alice\"", r#"{"z":1,"a":[1,2]}"#).sign(SECRET);
        assert!(spaced.verify(SECRET));
        spaced.body = r#"{"z":2,"a":[1,2]}"#.into();
        assert!(!spaced.verify(SECRET));
        for hmac in ["", "zz", "cc6", &spaced.hmac[..62]] {
            let envelope = Envelope {
                hmac: hmac.into(),
                ..spaced.clone()
            };
            assert!(!envelope.verify(SECRET), "{hmac}");
        }
        for short in [&SECRET[..31], b""] {
            spaced.hmac = spaced.sign(short);
            assert!(!spaced.verify(short));
        }
    }

    #[test]
    fn what_is_sent_is_what_was_signed() {
        let mut sent = envelope("\"<a&b>\"", "\"\"");
        sent.hmac = sent.sign(SECRET);
        let received = Envelope::parse(&sent.to_wire()).unwrap();
        assert_eq!(received, sent);
        assert!(received.verify(SECRET));
        assert!(received.canonical().contains(r#""from":"<a&b>""#));
    }
}
