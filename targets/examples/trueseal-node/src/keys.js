/** X25519 keys as raw 32 bytes; node:crypto wants them in DER, so the fixed prefixes are kept here. */
import { createPrivateKey, createPublicKey, diffieHellman, randomBytes } from 'node:crypto';

const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI = Buffer.from('302a300506032b656e032100', 'hex');

/** @typedef {{ secret: import('node:crypto').KeyObject, public: Buffer }} KeyPair */

/** @param {Buffer} raw 32 bytes, not clamped @returns {KeyPair} */
export function keyPairFrom(raw) {
  if (raw.length !== 32) throw new RangeError('a private key has 32 bytes');
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, raw]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(secret).export({ format: 'der', type: 'spki' });
  return { secret, public: Buffer.from(spki.subarray(SPKI.length)) };
}

/** @returns {KeyPair} */
export function generateKeyPair() {
  return keyPairFrom(randomBytes(32));
}

/** The shared secret; throws where the peer's key is a point of low order. @param {KeyPair} own @param {Buffer} peer */
export function agree(own, peer) {
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, peer]), format: 'der', type: 'spki' });
  return diffieHellman({ privateKey: own.secret, publicKey });
}
