//! A Touchstone shim for @ROLE@ in Rust: JSON Lines on stdin and stdout, four verbs.
//! stdout is the protocol: log with eprintln!. Fill in `start`, `perform` and `stop`; OPERATIONS.md says what is asked.
//! It needs no crate: a request is cut into its fields, each as the JSON text that came. Give `args` to the JSON library you use.
use std::io::{self, BufRead, Write};

const ROLE: &str = "@ROLE@";

/// The four answers. What they hold is JSON text; `text` makes a string of one.
#[allow(dead_code)]
enum Answer {
    Result(String),
    Refused(String),     // your implementation rejected the input: often just what a case wants
    Unsupported(String), // you do not offer this
    Failed(String),      // you tried and could not
}

/// Start an instance of the role; the harness gives it its name. A server answers {"address": "ws://127.0.0.1:1234"}.
fn start(_instance: &str, role: &str, _config: &str) -> Answer {
    if role != ROLE {
        return Answer::Unsupported(text(&format!("role {role}")));
    }
    Answer::Result("{}".into())
}

/// One operation on an instance.
fn perform(_instance: &str, op: &str, _args: &str) -> Answer {
    Answer::Unsupported(text(&format!("operation {op}")))
}

fn stop(_instance: &str) {}

/// Tell the harness that something happened at an instance; `data` is a JSON object.
#[allow(dead_code)]
fn emit(instance: &str, event: &str, data: &str) {
    say(&format!(r#"{{"event":{},"instance":{},"data":{data}}}"#, text(event), text(instance)));
}

fn answer(line: &str) {
    let word = |key| field(line, key).map_or("", |value| value.trim_matches('"'));
    let args = field(line, "args").unwrap_or("{}");
    let answer = match word("verb") {
        "hello" => Answer::Result(format!(
            r#"{{"name":"@NAME@","version":"0.1.0","language":"rust","protocol":1,"roles":{{"{ROLE}":[]}}}}"#
        )),
        "start" => start(word("instance"), word("role"), args),
        "do" => perform(word("instance"), word("op"), args),
        _ => {
            stop(word("instance"));
            Answer::Result("{}".into())
        }
    };
    let (kind, json) = match answer {
        Answer::Result(json) => ("result", json),
        Answer::Refused(json) => ("refused", json),
        Answer::Unsupported(json) => ("unsupported", json),
        Answer::Failed(json) => ("failed", json),
    };
    say(&format!(r#"{{"id":{},"{kind}":{json}}}"#, field(line, "id").unwrap_or("0")));
}

fn say(line: &str) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|_| stdout.flush());
}

/// A JSON string.
fn text(words: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c < ' ' => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    };
    format!("\"{}\"", words.chars().map(escaped).collect::<String>())
}

/// The JSON text of a field of the object on a line; what lies deeper is passed over.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (mut depth, mut quoted, mut escaped, mut began, mut name) = (0, false, false, 0, "");
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            ':' if depth == 1 => (name, began) = (line[began..at].trim().trim_matches('"'), at + 1),
            ',' | '}' if depth == 1 && name == key => return Some(line[began..at].trim()),
            ',' if depth == 1 => began = at + 1,
            '{' | '[' => (depth, began) = (depth + 1, if depth == 0 { at + 1 } else { began }),
            '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn main() {
    io::stdin().lock().lines().map_while(Result::ok).for_each(|line| answer(&line));
}
