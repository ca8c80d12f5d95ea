/** What a device must not forget: its outbox, and what it received. One journal holds both. */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Journal } from './journal.js';

const QUEUED = 1;
const SETTLED = 2;
const RECEIVED = 3;
const UUID_BYTES = 36;
const KEY_BYTES = 32;

/** @typedef {{ id: string, recipient: Buffer, offset: number, length: number, attempts: number }} Blob */

const digest = (envelope) => createHash('blake2s256').update(envelope).digest('base64');

export class ClientStore {
  #journal;
  /** Neither Acked nor rejected, oldest first. @type {Map<string, Blob>} */
  #outbox = new Map();
  /** @type {{ offset: number, length: number }[]} */
  #received = [];
  /** By digest; the promise is of the moment it is on the disk. @type {Map<string, Promise<void>>} */
  #known = new Map();

  /** @param {string} folder */
  static async open(folder) {
    const store = new ClientStore();
    store.#journal = await Journal.open(join(folder, 'device.log'), (record, at) => store.#replay(record, at));
    return store;
  }

  #replay(record, at) {
    const id = record.toString('latin1', 1, 1 + UUID_BYTES);
    if (record[0] === QUEUED) this.#queued(id, record.subarray(1 + UUID_BYTES, 1 + UUID_BYTES + KEY_BYTES), at, record.length);
    if (record[0] === SETTLED) this.#outbox.delete(id);
    if (record[0] === RECEIVED) {
      this.#received.push({ offset: at + 1, length: record.length - 1 });
      this.#known.set(digest(record.subarray(1)), Promise.resolve());
    }
  }

  #queued(id, recipient, at, size) {
    const head = 1 + UUID_BYTES + KEY_BYTES;
    this.#outbox.set(id, { id, recipient, offset: at + head, length: size - head, attempts: 0 });
  }

  /** Resolves with the blob's name once it is on the disk. */
  async queue(recipient, envelope) {
    const id = randomUUID();
    const at = await this.#journal.append(Buffer.of(QUEUED), Buffer.from(id, 'latin1'), recipient, envelope);
    this.#queued(id, recipient, at, 1 + UUID_BYTES + KEY_BYTES + envelope.length);
    return id;
  }

  /** The blob that was tried least often, and of those the newest: one that never gets through does not stop the others. */
  next() {
    let best = null;
    for (const blob of this.#outbox.values()) if (!best || blob.attempts <= best.attempts) best = blob;
    return best;
  }

  envelope(blob) {
    return this.#journal.read(blob.offset, blob.length);
  }

  /** Acked or rejected: either way it is not pushed again, also if the disk should fail now. */
  async settle(blob) {
    this.#outbox.delete(blob.id);
    await this.#journal.append(Buffer.of(SETTLED), Buffer.from(blob.id, 'latin1'));
  }

  /**
   * Resolves once the envelope is on the disk, with whether it is new. The same bytes under any id are the same message:
   * a relay may number a blob anew, and one whose Ack was lost is pushed twice.
   */
  async receive(envelope) {
    const key = digest(envelope);
    const known = this.#known.get(key);
    if (known) {
      await known;
      return false;
    }
    const kept = this.#journal.append(Buffer.of(RECEIVED), envelope).then((at) => {
      this.#received.push({ offset: at + 1, length: envelope.length });
    });
    this.#known.set(key, kept);
    await kept;
    return true;
  }

  /** All that was received, oldest first. */
  async received() {
    const envelopes = [];
    for (const { offset, length } of [...this.#received]) envelopes.push(await this.#journal.read(offset, length));
    return envelopes;
  }

  close() {
    return this.#journal.close();
  }
}
