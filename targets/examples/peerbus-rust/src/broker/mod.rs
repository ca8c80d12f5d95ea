//! The broker: connections hand what they receive to one hub, which owns all
//! state, stores what changes it, and only then lets the answers go out.

mod audit;
mod hub;
mod server;
mod store;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::mpsc;

use audit::Audit;
use hub::Hub;
use store::Store;

/// How many frames may wait for the hub.
const INBOX: usize = 64;

pub struct Broker {
    hub: mpsc::Sender<hub::Command>,
    thread: JoinHandle<io::Result<()>>,
}

impl Broker {
    /// Opens the state in that folder.
    pub fn open(folder: &Path, tokens: HashSet<String>) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (store, state) = Store::open(folder)?;
        let audit = Audit::open(&folder.join("audit.log"))?;
        let (hub, commands) = mpsc::channel(INBOX);
        let hub_loop = Hub::new(store, state, audit, tokens);
        let thread = std::thread::spawn(move || hub_loop.run(commands));
        Ok(Self { hub, thread })
    }

    /// Serves until the state cannot be written any more.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let hub = self.hub;
        tokio::select! {
            result = server::accept(listener, hub.clone()) => result,
            () = hub.closed() => self.thread.join().expect("the hub does not panic"),
        }
    }
}
