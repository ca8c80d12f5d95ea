export { Client } from './client.js';
export { MAX_ENVELOPE, Malformed, TAG, FrameReader, cut, decodeBody, encodeFrame } from './frame.js';
export { Handshake, generateKeyPair, keyPairFrom } from './noise.js';
export { Relay } from './relay.js';
