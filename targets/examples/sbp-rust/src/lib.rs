//! SBP v1: frames, and peers that exchange them over WebSocket.

pub mod frame;
pub mod handshake;
pub mod peer;
