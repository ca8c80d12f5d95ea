//! peerbus v1: the codec, a client and a broker.
//!
//! Where the protocol document leaves a choice between its own words and what
//! the original program does, this crate follows the document.

pub mod broker;
pub mod client;
pub mod envelope;
pub mod frame;
pub mod hex;
pub mod json;
pub mod lines;

/// The only version there is (6).
pub const VERSION: &str = "v1";

/// The longest WebSocket message either side takes (1).
pub const MAX_MESSAGE: usize = 1 << 20;

/// Text that is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}
