//! The little that peerbus needs to know about JSON text: the members of an
//! object with their values as they were written.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::Malformed;

/// The members of one object. Of a repeated member the last value counts.
#[derive(Debug)]
pub struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Parses text that is one JSON object, with whitespace around it at most.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        serde_json::from_str(text).map_err(|_| Malformed("not one JSON object"))
    }

    /// The value as it was written.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        let mut found = self.0.iter().rev().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value.get())
    }

    /// A string member; absent or null is the empty string.
    pub fn text(&self, name: &str) -> Result<String, Malformed> {
        match self.raw(name) {
            None | Some("null") => Ok(String::new()),
            Some(raw) => string(raw).ok_or(Malformed("a member is not a string")),
        }
    }

    /// A list of strings; absent or null is the empty list.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, Malformed> {
        let Some(raw) = self.raw(name) else {
            return Ok(Vec::new());
        };
        serde_json::from_str::<Option<Vec<Option<Text>>>>(raw)
            .map(|list| list.unwrap_or_default())
            .map(|list| list.into_iter().map(|t| t.unwrap_or_default().0).collect())
            .map_err(|_| Malformed("a member is not a list of strings"))
    }
}

/// The string that this JSON text stands for, if it does.
pub fn string(raw: &str) -> Option<String> {
    serde_json::from_str::<Text>(raw).ok().map(|text| text.0)
}

/// A string as JSON text: short escapes where there are some, `\u00xx` for
/// other control characters, all else as it stands.
pub fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// Whether this text is one JSON value.
pub fn is_value(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Valid JSON text without its insignificant whitespace.
pub fn compact(raw: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    raw.chars()
        .filter(|&c| {
            if in_string {
                in_string = escaped || c != '"';
                escaped = !escaped && c == '\\';
                return true;
            }
            in_string = c == '"';
            !matches!(c, ' ' | '\t' | '\n' | '\r')
        })
        .collect()
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Text(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// A string whose escapes of lone surrogates become U+FFFD.
#[derive(Debug, Default)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
                // Asked for bytes, the parser writes a lone surrogate as the
                // three bytes that UTF-8 would have for it, if it had any.
                let mut bytes = bytes.to_vec();
                for i in 1..bytes.len() {
                    if bytes[i - 1] == 0xED && bytes[i] >= 0xA0 {
                        bytes.splice(i - 1..i + 2, *b"\xEF\xBF\xBD");
                    }
                }
                String::from_utf8(bytes).map(Text).map_err(E::custom)
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_as_written() {
        let text = r#" {"a":1,"b": {"z" : 1, "a":2} ,"a":"x\ud800y","\ud83d\ude00":1e400} "#;
        let members = Members::parse(text).unwrap();
        assert_eq!(members.raw("b"), Some(r#"{"z" : 1, "a":2}"#));
        assert_eq!(members.text("a").unwrap(), "x\u{fffd}y");
        assert_eq!(members.raw("😀"), Some("1e400"));
        assert_eq!(members.text("none").unwrap(), "");
        assert!(members.text("b").is_err());
    }

    #[test]
    fn what_is_no_object() {
        for text in [
            "",
            "[]",
            "null",
            "{} {}",
            "{}x",
            r#"{"a":}"#,
            r#"{"a":01}"#,
            "\u{feff}{}",
        ] {
            assert!(Members::parse(text).is_err(), "{text}");
        }
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(300_000), "]".repeat(300_000));
        assert!(Members::parse(&deep).is_ok());
    }

    #[test]
    fn compacting_leaves_strings_alone() {
        let raw = "{ \"a \\\" \\\\\" : [ 1 ,\t\"b\\n c\" ]\r\n}";
        assert_eq!(compact(raw), "{\"a \\\" \\\\\":[1,\"b\\n c\"]}");
    }
}
