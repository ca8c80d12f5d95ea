// Keys, the identities derived from them, and authentication (sections 9 to 12).
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
} from "node:crypto";
import { decodeBase32, encodeBase32 } from "./base32.js";
import * as syntax from "./syntax.js";

// node:crypto takes keys in DER only; on the wire they are raw (9.1).
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_DER = Buffer.from("302a300506032b6570032100", "hex");

/** An Ed25519 key pair from its 32-byte seed. */
export function keyPair(seed) {
  if (seed.length !== 32) throw new RangeError("a seed has 32 bytes");
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_DER, seed]),
    format: "der",
    type: "pkcs8",
  });
  const raw = createPublicKey(key)
    .export({ format: "der", type: "spki" })
    .subarray(PUBLIC_DER.length);
  return {
    publicKey: encodeBase32(raw),
    id: identify(raw),
    sign: (text) => encodeBase32(sign(null, Buffer.from(text), key)),
  };
}

/** Peer fingerprint or server id: the first 130 bits of SHA-256 (10, 11). */
export function identify(rawPublicKey) {
  const digest = createHash("sha256").update(rawPublicKey).digest();
  return encodeBase32(digest).slice(0, 26);
}

/** What a client signs (12.1). */
export function clientAuthString({ nonce, serverUri, peerKey, serverId }) {
  return ["FROG-AUTH-V1", nonce, serverUri, peerKey, serverId].join("\n");
}

/** What a server signs (12.2). */
export function serverAuthString({ nonce, selfUri, selfId, peerUri, peerId }) {
  return ["FROG-SERVER-AUTH-V1", nonce, selfUri, selfId, peerUri, peerId].join(
    "\n",
  );
}

/** Whether a server with this context has to answer AUTH with OK JOIN (17). */
export function verifyClient(publicKey, signature, context) {
  const { nonce, serverUri, peerKey, serverId } = context;
  return (
    syntax.isNonce(nonce) &&
    syntax.isUri(serverUri) &&
    syntax.isPeerKey(peerKey) &&
    syntax.isServerId(serverId) &&
    verifySignature(
      publicKey,
      signature,
      peerKey.slice(-26),
      clientAuthString(context),
    )
  );
}

/** Whether the challenger has to answer @AUTH with @OK AUTH (29). */
export function verifyServer(publicKey, signature, context) {
  const { nonce, selfUri, selfId, peerUri, peerId } = context;
  return (
    syntax.isNonce(nonce) &&
    [selfUri, peerUri].every(syntax.isUri) &&
    [selfId, peerId].every(syntax.isServerId) &&
    selfId !== peerId &&
    verifySignature(publicKey, signature, selfId, serverAuthString(context))
  );
}

function verifySignature(publicKey, signature, id, text) {
  const rawKey = decodeBase32(publicKey, 32);
  const rawSignature = decodeBase32(signature, 64);
  if (!rawKey || !rawSignature || identify(rawKey) !== id) return false;
  try {
    const key = createPublicKey({
      key: Buffer.concat([PUBLIC_DER, rawKey]),
      format: "der",
      type: "spki",
    });
    return verify(null, Buffer.from(text), key, rawSignature);
  } catch {
    return false; // no point of the curve
  }
}
