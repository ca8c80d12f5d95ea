//! The payload of a Handshake.

use serde::Serialize;
use serde_json::{Map, Value};

pub const PROTOCOL: &str = "sideband";
pub const VERSION: &str = "1";

/// How long a payload should be at most (SBP-LIM-04).
pub const RECOMMENDED_SIZE: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Handshake {
    pub protocol: String,
    pub version: String,
    pub peer_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caps: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

impl Handshake {
    /// A handshake of this version.
    pub fn new(peer_id: String, caps: Option<Vec<String>>, metadata: Option<Map<String, Value>>) -> Self {
        Handshake { protocol: PROTOCOL.into(), version: VERSION.into(), peer_id, caps, metadata }
    }

    /// Does the other side speak this version? (SBP-HSP-10)
    pub fn is_supported(&self) -> bool {
        self.protocol == PROTOCOL && self.version == VERSION
    }

    /// Reads one JSON object with the three required strings. Unknown members are ignored (SBP-EXT-01).
    pub fn parse(data: &[u8]) -> Result<Self, String> {
        let mut members: Map<String, Value> =
            serde_json::from_slice(data).map_err(|e| format!("the handshake is not a JSON object: {e}"))?;
        let mut text = |name: &str| match members.remove(name) {
            Some(Value::String(s)) => Ok(s),
            Some(_) => Err(format!("{name} is not a string")),
            None => Err(format!("{name} is missing")),
        };
        let (protocol, version, peer_id) = (text("protocol")?, text("version")?, text("peerId")?);
        let caps = match members.remove("caps") {
            None => None,
            Some(caps) => Some(serde_json::from_value(caps).map_err(|_| "caps is not a list of strings")?),
        };
        let metadata = match members.remove("metadata") {
            None => None,
            Some(Value::Object(m)) => Some(m),
            Some(_) => return Err("metadata is not an object".into()),
        };
        Ok(Handshake { protocol, version, peer_id, caps, metadata })
    }

    /// Writes the JSON. Metadata keys have to be namespaced (SBP-HSP-07).
    pub fn write(&self) -> Result<Vec<u8>, String> {
        for key in self.metadata.iter().flat_map(Map::keys) {
            if key.find(':').is_none_or(|at| at == 0) {
                return Err(format!("the metadata key {key:?} has no namespace"));
            }
        }
        serde_json::to_vec(self).map_err(|e| e.to_string())
    }
}
