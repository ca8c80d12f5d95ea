//! A peerbus broker.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;

use peerbus::broker::Broker;
use tokio::net::TcpListener;

const USAGE: &str = "peerbus-broker --data FOLDER [--listen HOST:PORT] [--tokens A,B]
The tokens may also be in PEERBUS_TOKENS.";

struct Options {
    listen: String,
    data: PathBuf,
    tokens: HashSet<String>,
}

fn options() -> Option<Options> {
    let mut listen = "127.0.0.1:7700".to_owned();
    let mut data = None;
    let mut tokens = std::env::var("PEERBUS_TOKENS").unwrap_or_default();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        match name.as_str() {
            "--listen" => listen = value,
            "--data" => data = Some(value.into()),
            "--tokens" => tokens = value,
            _ => return None,
        }
    }
    let tokens = tokens
        .split(',')
        .filter(|t| !t.is_empty())
        .map(str::to_owned);
    Some(Options {
        listen,
        data: data?,
        tokens: tokens.collect(),
    })
}

async fn run(options: Options) -> std::io::Result<()> {
    let broker = Broker::open(&options.data, options.tokens)?;
    let listener = TcpListener::bind(&options.listen).await?;
    println!("listening on ws://{}", listener.local_addr()?);
    broker.serve(listener).await
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if let Err(error) = run(options).await {
        eprintln!("peerbus-broker: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
