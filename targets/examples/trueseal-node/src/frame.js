/** Frames: `[type: u8][len: u32 BE][body]`, and how they travel in Noise plaintexts. */

export const TAG = Object.freeze({ push: 1, deliver: 2, heartbeat: 3, ack: 4, error: 5, deliver_ack: 6 });
const NAME = Object.fromEntries(Object.entries(TAG).map(([name, tag]) => [tag, name]));

export const HEADER_BYTES = 5;
export const KEY_BYTES = 32;
export const ID_BYTES = 8;
export const MAX_ENVELOPE = 1_048_576;
/** The largest plaintext of one Noise message. */
export const MAX_PLAINTEXT = 65_519;
/** A Push that claims more is not waited for; one below is read to its end, so that it can be answered. */
export const MAX_CLAIM = 16 * MAX_ENVELOPE;

/** What the peer sent is not a message of this protocol. */
export class Malformed extends Error {}

/**
 * @typedef {{ type: 'push', recipient: Buffer, envelope: Buffer } | { type: 'deliver', blobId: bigint, envelope: Buffer }
 *   | { type: 'deliver_ack', blobId: bigint } | { type: 'heartbeat' | 'ack' | 'error' }} Frame
 */

function idBytes(blobId) {
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.writeBigUInt64BE(blobId); // throws over 64 bits
  return bytes;
}

function bodyOf(frame) {
  switch (frame.type) {
    case 'push':
      if (frame.recipient.length !== KEY_BYTES) throw new RangeError('a recipient has 32 bytes');
      return [frame.recipient, frame.envelope];
    case 'deliver':
      return [idBytes(frame.blobId), frame.envelope];
    case 'deliver_ack':
      return [idBytes(frame.blobId)];
    case 'heartbeat':
    case 'ack':
    case 'error':
      return [];
    default:
      throw new RangeError(`no frame of type ${frame.type}`);
  }
}

/** The bytes of a frame. @param {Frame} frame */
export function encodeFrame(frame) {
  const body = bodyOf(frame);
  const length = body.reduce((sum, part) => sum + part.length, 0);
  if (length > 0xffffffff) throw new RangeError('the frame does not fit');
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = TAG[frame.type];
  header.writeUInt32BE(length, 1);
  return Buffer.concat([header, ...body]);
}

/** What follows the header of a large frame: any sizes are legal, nothing at all included. */
const STRIDES = [0, 1, MAX_PLAINTEXT, 32_749, 257, MAX_PLAINTEXT, 65_521 - 4_093];

/** The plaintexts that carry a frame: one if it fits, else the header alone and the body in uneven pieces. */
export function cut(bytes) {
  if (bytes.length <= MAX_PLAINTEXT) return [bytes];
  const pieces = [bytes.subarray(0, HEADER_BYTES)];
  for (let at = HEADER_BYTES, turn = 0; at < bytes.length; turn += 1) {
    const size = STRIDES[turn % STRIDES.length];
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

/** What a body says. @param {{ type: string, body: Buffer }} raw @returns {Frame} */
export function decodeBody({ type, body }) {
  switch (type) {
    case 'push':
      if (body.length < KEY_BYTES) throw new Malformed('a Push without a whole recipient');
      return { type, recipient: body.subarray(0, KEY_BYTES), envelope: body.subarray(KEY_BYTES) };
    case 'deliver':
      if (body.length < ID_BYTES) throw new Malformed('a Deliver without a whole id');
      return { type, blobId: body.readBigUInt64BE(), envelope: body.subarray(ID_BYTES) };
    case 'deliver_ack':
      if (body.length !== ID_BYTES) throw new Malformed('a DeliverAck that is not an id');
      return { type, blobId: body.readBigUInt64BE() };
    default:
      return { type }; // a body where none belongs says nothing
  }
}

/** The largest body of a type that is worth reading to its end. */
function largest(type) {
  if (type === 'push') return MAX_CLAIM;
  if (type === 'deliver') return ID_BYTES + MAX_ENVELOPE;
  return MAX_PLAINTEXT - HEADER_BYTES;
}

/**
 * Puts the frames of one direction together. A frame that would fit into one plaintext has to be whole in it;
 * behind the end of a frame another may begin. Of a body over `keep` bytes only the length is remembered.
 */
export class FrameReader {
  #keep;
  /** @type {{ type: string, length: number, missing: number, parts: Buffer[] } | null} */
  #open = null;

  constructor({ keep = MAX_CLAIM } = {}) {
    this.#keep = keep;
  }

  /** Whether a frame has begun and not ended. */
  get partial() {
    return this.#open !== null;
  }

  /** @param {Buffer} plaintext @returns {Generator<{ type: string, length: number, body: Buffer }>} */
  *read(plaintext) {
    let rest = plaintext;
    do {
      if (!this.#open) {
        this.#begin(rest);
        rest = rest.subarray(HEADER_BYTES);
      }
      const frame = this.#open;
      const part = rest.subarray(0, frame.missing);
      rest = rest.subarray(part.length);
      frame.missing -= part.length;
      if (part.length > 0 && frame.length <= this.#keep) frame.parts.push(part);
      if (frame.missing > 0) return;
      this.#open = null;
      const body = frame.parts.length === 1 ? frame.parts[0] : Buffer.concat(frame.parts);
      yield { type: frame.type, length: frame.length, body };
    } while (rest.length > 0);
  }

  #begin(bytes) {
    if (bytes.length < HEADER_BYTES) throw new Malformed('fewer than 5 bytes');
    const type = NAME[bytes[0]];
    if (!type) throw new Malformed(`unknown type ${bytes[0]}`);
    const length = bytes.readUInt32BE(1);
    if (length > largest(type)) throw new Malformed(`a ${type} cannot have ${length} bytes`);
    const whole = HEADER_BYTES + length;
    if (whole <= MAX_PLAINTEXT && whole > bytes.length) throw new Malformed('cut short');
    this.#open = { type, length, missing: length, parts: [] };
  }
}

