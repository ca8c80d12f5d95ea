//! The byte-stream form (1): one object per line.

use crate::json::{self, Members};
use crate::{MAX_MESSAGE, Malformed};

/// An object as a line. It loses line feeds between its tokens, if it has any.
pub fn encode(object: &str) -> Result<String, Malformed> {
    Members::parse(object)?;
    let mut line = match object.contains(['\n', '\r']) {
        true => json::compact(object),
        false => object.to_owned(),
    };
    line.push('\n');
    Ok(line)
}

/// Cuts a stream into lines, however it arrives.
#[derive(Default)]
pub struct Decoder {
    line: Vec<u8>,
    too_long: bool,
}

impl Decoder {
    /// The lines that end in this chunk: an object each, or what is none.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Result<String, Malformed>> {
        let mut objects = Vec::new();
        let mut pieces = chunk.split(|&byte| byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            if self.line.len() + piece.len() < MAX_MESSAGE {
                self.line.extend_from_slice(piece);
            } else {
                self.too_long = true;
            }
            if pieces.peek().is_some() {
                objects.push(self.finish());
            }
        }
        objects
    }

    fn finish(&mut self) -> Result<String, Malformed> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            return Err(Malformed("a line over 1 MiB"));
        }
        let text = String::from_utf8(line).map_err(|_| Malformed("not UTF-8"))?;
        Members::parse(&text)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_pieces() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"{\"a\""), []);
        let objects = decoder.push(b":1}\n{}{}\n\n{}\n{");
        let texts: Vec<_> = objects.into_iter().map(Result::ok).collect();
        assert_eq!(
            texts,
            [Some("{\"a\":1}".into()), None, None, Some("{}".into())]
        );
    }

    #[test]
    fn long_lines() {
        let line = |length: usize| format!("{{\"a\":\"{}\"}}\n", "x".repeat(length - 9));
        let mut decoder = Decoder::default();
        assert!(decoder.push(line(MAX_MESSAGE).as_bytes())[0].is_ok());
        assert!(decoder.push(line(MAX_MESSAGE + 1).as_bytes())[0].is_err());
        assert!(decoder.push(b"{}\n")[0].is_ok());
    }

    #[test]
    fn one_object_one_line() {
        assert_eq!(encode("{\n \"a\": 1 }").unwrap(), "{\"a\":1}\n");
        assert_eq!(encode("{\"a\": 1}").unwrap(), "{\"a\": 1}\n");
        assert!(encode("{}{}").is_err());
    }
}
