//! Control frames (2), and what a frame is.

use crate::envelope::Envelope;
use crate::json::{self, Members};
use crate::{Malformed, VERSION};

/// What a broker receives.
#[derive(Debug)]
pub enum Request {
    Register(Register),
    Ack {
        id: String,
    },
    Peers,
    /// Never sent by a client; of no effect.
    Deliver,
    /// Whatever has no type of ours.
    Envelope(Envelope),
}

#[derive(Debug)]
pub struct Register {
    pub version: String,
    pub token: String,
    pub name: String,
}

/// What a client receives.
#[derive(Debug)]
pub enum Reply {
    Peers(Vec<String>),
    Deliver {
        key: String,
        envelope: Result<Envelope, Malformed>,
    },
    /// Nothing that a broker says to a client.
    Other,
}

impl Request {
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let members = Members::parse(text)?;
        let kind = members.raw("type").and_then(json::string);
        let request = match kind.as_deref() {
            Some("register") => Self::Register(Register {
                version: members.text("protocol_version")?,
                token: members.text("token")?,
                name: members.text("name")?,
            }),
            Some("ack") => Self::Ack {
                id: members.text("id")?,
            },
            Some("peers") => {
                members.texts("names")?;
                Self::Peers
            }
            Some("deliver") => Self::Deliver,
            _ => Self::Envelope(Envelope::from_members(&members)?),
        };
        members.text("protocol_version")?;
        Ok(request)
    }
}

impl Reply {
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let members = Members::parse(text)?;
        let kind = members.raw("type").and_then(json::string);
        Ok(match kind.as_deref() {
            Some("peers") => Self::Peers(members.texts("names")?),
            Some("deliver") => Self::Deliver {
                key: members.text("delivery_key")?,
                envelope: match members.raw("envelope") {
                    Some(raw) => Envelope::parse(raw),
                    None => Err(Malformed("no envelope")),
                },
            },
            _ => Self::Other,
        })
    }
}

pub fn register(token: &str, name: &str) -> String {
    let (token, name) = (json::quote(token), json::quote(name));
    control("register", &format!(",\"token\":{token},\"name\":{name}"))
}

pub fn ack(key: &str) -> String {
    control("ack", &format!(",\"id\":{}", json::quote(key)))
}

pub fn peers_request() -> String {
    control("peers", "")
}

pub fn peers<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(json::quote).collect();
    control("peers", &format!(",\"names\":[{}]", names.join(",")))
}

/// The envelope goes in as its sender wrote it (2.4).
pub fn deliver(key: &str, envelope: &str) -> String {
    let key = json::quote(key);
    control(
        "deliver",
        &format!(",\"delivery_key\":{key},\"envelope\":{envelope}"),
    )
}

fn control(kind: &str, members: &str) -> String {
    format!("{{\"protocol_version\":\"{VERSION}\",\"type\":\"{kind}\"{members}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_broker_takes_for_what() {
        let is = |text: &str| Request::parse(text).unwrap();
        assert!(matches!(is(r#"{"type":"ack","id":"x"}"#), Request::Ack { id } if id == "x"));
        assert!(matches!(
            is(r#"{"type":"peers","names":null}"#),
            Request::Peers
        ));
        assert!(matches!(
            is(r#"{"type":"deliver","envelope":3}"#),
            Request::Deliver
        ));
        for other in [
            r#"{"type":"chat"}"#,
            r#"{"type":7}"#,
            r#"{"Type":"ack"}"#,
            "{}",
        ] {
            assert!(matches!(is(other), Request::Envelope(_)), "{other}");
        }
        for bad in [
            r#"{"type":"ack","id":7}"#,
            r#"{"type":"peers","names":"x"}"#,
            r#"{"to":[]}"#,
        ] {
            assert!(Request::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn frames_are_read_as_written() {
        assert!(matches!(
            Request::parse(&register("t\"", "n")).unwrap(),
            Request::Register(r) if r.version == "v1" && r.token == "t\"" && r.name == "n"
        ));
        assert!(matches!(
            Reply::parse(&peers(["a", "b"].into_iter())).unwrap(),
            Reply::Peers(names) if names == ["a", "b"]
        ));
        assert!(matches!(
            Reply::parse(&deliver("k", r#"{"id":"m"}"#)).unwrap(),
            Reply::Deliver { key, envelope: Ok(e) } if key == "k" && e.id == "m"
        ));
    }
}
