/** Noise_NK and Noise_XX with 25519, ChaChaPoly and BLAKE2s, as far as TrueSeal needs them. */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';
import { agree, generateKeyPair } from './keys.js';

export { generateKeyPair, keyPairFrom } from './keys.js';

const TAG_BYTES = 16;
const KEY_BYTES = 32;
const EMPTY = Buffer.alloc(0);

/** `known` says that the responder's static key is known beforehand. The initiator writes messages 0, 2, ... */
const PATTERNS = {
  NK: { known: true, messages: [['e', 'es'], ['e', 'ee']] },
  XX: { known: false, messages: [['e'], ['e', 'ee', 's', 'es'], ['s', 'se']] },
};

const hash = (...parts) => parts.reduce((h, part) => h.update(part), createHash('blake2s256')).digest();
const hmac = (key, ...parts) => parts.reduce((h, part) => h.update(part), createHmac('blake2s256', key)).digest();

/** Two outputs of Noise's HKDF. */
function hkdf(chainingKey, input) {
  const temp = hmac(chainingKey, input);
  const first = hmac(temp, Buffer.of(1));
  return [first, hmac(temp, first, Buffer.of(2))];
}

/** One direction of a session: a key and a counter. */
export class Cipher {
  #key;
  #counter = 0n;

  constructor(key) {
    this.#key = key;
  }

  #nonce() {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64LE(this.#counter, 4);
    return nonce;
  }

  encrypt(plaintext, ad = EMPTY) {
    const aead = createCipheriv('chacha20-poly1305', this.#key, this.#nonce(), { authTagLength: TAG_BYTES });
    aead.setAAD(ad, { plaintextLength: plaintext.length });
    const body = aead.update(plaintext);
    aead.final();
    this.#counter += 1n;
    return Buffer.concat([body, aead.getAuthTag()]);
  }

  decrypt(message, ad = EMPTY) {
    const end = message.length - TAG_BYTES;
    if (end < 0) throw new Error('shorter than its tag');
    const aead = createDecipheriv('chacha20-poly1305', this.#key, this.#nonce(), { authTagLength: TAG_BYTES });
    aead.setAAD(ad, { plaintextLength: end });
    aead.setAuthTag(message.subarray(end));
    const plaintext = aead.update(message.subarray(0, end));
    aead.final();
    this.#counter += 1n;
    return plaintext;
  }
}

/**
 * One side of a handshake. Call `write` and `read` in turn until `done`, then take `split()`.
 * Whatever does not authenticate throws, and the handshake is of no use any more.
 */
export class Handshake {
  #messages;
  #turn = 0;
  #initiator;
  #static;
  #ephemeral;
  #remoteEphemeral;
  #chainingKey;
  #hash;
  #cipher;

  /** The peer's static key, once it is known. @type {Buffer | undefined} */
  remoteStatic;

  /**
   * @param {'NK' | 'XX'} pattern
   * @param {{ initiator: boolean, static?: import('./keys.js').KeyPair, ephemeral?: import('./keys.js').KeyPair,
   *           remoteStatic?: Buffer, prologue?: Buffer }} options
   */
  constructor(pattern, options) {
    const { known, messages } = PATTERNS[pattern] ?? {};
    if (!messages) throw new RangeError(`no pattern ${pattern}`);
    this.#messages = messages;
    this.#initiator = options.initiator;
    this.#static = options.static;
    this.#ephemeral = options.ephemeral;
    // The name has more bytes than a hash, so it is hashed.
    this.#hash = hash(`Noise_${pattern}_25519_ChaChaPoly_BLAKE2s`);
    this.#chainingKey = this.#hash;
    this.#mixHash(options.prologue ?? EMPTY);
    if (known) {
      if (this.#initiator) this.remoteStatic = options.remoteStatic;
      const responder = this.#initiator ? options.remoteStatic : options.static?.public;
      if (responder?.length !== KEY_BYTES) throw new RangeError(`${pattern} needs the responder's static key`);
      this.#mixHash(responder);
    }
  }

  get done() {
    return this.#turn === this.#messages.length;
  }

  /** The handshake hash so far. */
  get hash() {
    return this.#hash;
  }

  get #writing() {
    return !this.done && (this.#turn % 2 === 0) === this.#initiator;
  }

  write(payload = EMPTY) {
    if (!this.#writing) throw new Error('it is not our turn to write');
    const parts = [];
    for (const token of this.#messages[this.#turn]) {
      if (token === 'e') {
        this.#ephemeral ??= generateKeyPair();
        this.#mixHash(this.#ephemeral.public);
        parts.push(this.#ephemeral.public);
      } else if (token === 's') {
        if (!this.#static) throw new RangeError('this pattern needs a static key');
        parts.push(this.#seal(this.#static.public));
      } else {
        this.#mixKey(token);
      }
    }
    parts.push(this.#seal(payload));
    this.#turn += 1;
    return Buffer.concat(parts);
  }

  read(message) {
    if (this.done || this.#writing) throw new Error('it is not our turn to read');
    let at = 0;
    const take = (bytes) => {
      if (message.length < at + bytes) throw new Error('the handshake message is too short');
      return message.subarray(at, (at += bytes));
    };
    for (const token of this.#messages[this.#turn]) {
      if (token === 'e') {
        this.#remoteEphemeral = Buffer.from(take(KEY_BYTES));
        this.#mixHash(this.#remoteEphemeral);
      } else if (token === 's') {
        this.remoteStatic = Buffer.from(this.#open(take(KEY_BYTES + TAG_BYTES)));
      } else {
        this.#mixKey(token);
      }
    }
    const payload = this.#open(message.subarray(at));
    this.#turn += 1;
    return payload;
  }

  /** @returns {{ sender: Cipher, receiver: Cipher }} */
  split() {
    if (!this.done) throw new Error('the handshake is not complete');
    const [up, down] = hkdf(this.#chainingKey, EMPTY).map((key) => new Cipher(key));
    return this.#initiator ? { sender: up, receiver: down } : { sender: down, receiver: up };
  }

  #mixHash(data) {
    this.#hash = hash(this.#hash, data);
  }

  /** `es` is the initiator's ephemeral with the responder's static key, and so on. */
  #mixKey(token) {
    const [ours, theirs] = this.#initiator ? token : [token[1], token[0]];
    const own = ours === 'e' ? this.#ephemeral : this.#static;
    const peer = theirs === 'e' ? this.#remoteEphemeral : this.remoteStatic;
    const [chainingKey, key] = hkdf(this.#chainingKey, agree(own, peer));
    this.#chainingKey = chainingKey;
    this.#cipher = new Cipher(key);
  }

  #seal(plaintext) {
    const sealed = this.#cipher ? this.#cipher.encrypt(plaintext, this.#hash) : plaintext;
    this.#mixHash(sealed);
    return sealed;
  }

  #open(sealed) {
    const plaintext = this.#cipher ? this.#cipher.decrypt(sealed, this.#hash) : sealed;
    this.#mixHash(sealed);
    return plaintext;
  }
}
