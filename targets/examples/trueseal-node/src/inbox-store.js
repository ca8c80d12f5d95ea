/** The relay's inboxes: an index in memory, the envelopes in a journal. */
import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Journal } from './journal.js';

const STORED = 1;
const DELETED = 2;
/** `[kind: u8][recipient: 32][blob_id: 8]`, then the envelope of what is stored. */
const PREFIX_BYTES = 41;

/** @typedef {{ offset: number, length: number }} Place */

export class InboxStore {
  #journal;
  /** By recipient in hex, then by id, in order of arrival. @type {Map<string, Map<bigint, Place>>} */
  #inboxes = new Map();

  /** @param {string} folder */
  static async open(folder) {
    const path = join(folder, 'inboxes.log');
    const store = new InboxStore();
    let dead = 0;
    store.#journal = await Journal.open(path, (record, offset) => {
      dead += store.#replay(record, offset);
    });
    if (dead > 0) await store.#compact(path);
    return store;
  }

  #inbox(recipient) {
    let inbox = this.#inboxes.get(recipient);
    if (!inbox) this.#inboxes.set(recipient, (inbox = new Map()));
    return inbox;
  }

  #forget(recipient, id) {
    const inbox = this.#inboxes.get(recipient);
    if (!inbox?.delete(id)) return false;
    if (inbox.size === 0) this.#inboxes.delete(recipient);
    return true;
  }

  #replay(record, offset) {
    const recipient = record.toString('hex', 1, 33);
    const id = record.readBigUInt64BE(33);
    if (record[0] === STORED) {
      this.#inbox(recipient).set(id, { offset: offset + PREFIX_BYTES, length: record.length - PREFIX_BYTES });
      return 0;
    }
    this.#forget(recipient, id);
    return 1;
  }

  /** Rewrites the journal without what was deleted; the rename is the moment it counts. */
  async #compact(path) {
    const fresh = `${path}.new`;
    await rm(fresh, { force: true });
    const journal = await Journal.open(fresh, () => {});
    for (const [recipient, inbox] of this.#inboxes) {
      for (const [id, { offset, length }] of inbox) {
        await journal.append(prefix(STORED, recipient, id), await this.#journal.read(offset, length));
      }
    }
    await journal.close();
    await this.#journal.close();
    await rename(fresh, path);
    this.#inboxes.clear();
    this.#journal = await Journal.open(path, (record, offset) => this.#replay(record, offset));
  }

  /** Ids are random: they tell a device nothing about other inboxes. */
  #newId(inbox) {
    for (;;) {
      const id = randomBytes(8).readBigUInt64BE();
      if (!inbox?.has(id)) return id;
    }
  }

  /** Resolves with the blob's id once it is on the disk. @param {Buffer} recipientKey @param {Buffer} envelope */
  async add(recipientKey, envelope) {
    const recipient = recipientKey.toString('hex');
    const id = this.#newId(this.#inboxes.get(recipient));
    const offset = await this.#journal.append(prefix(STORED, recipient, id), envelope);
    this.#inbox(recipient).set(id, { offset: offset + PREFIX_BYTES, length: envelope.length });
    return id;
  }

  /** Ids that wait for a device, oldest first. */
  ids(recipient) {
    return [...(this.#inboxes.get(recipient)?.keys() ?? [])];
  }

  has(recipient, id) {
    return this.#inboxes.get(recipient)?.has(id) ?? false;
  }

  /** The envelope, or null where it was deleted. */
  async read(recipient, id) {
    const place = this.#inboxes.get(recipient)?.get(id);
    return place ? this.#journal.read(place.offset, place.length) : null;
  }

  /** Deletes a blob of this inbox, and of no other; resolves once that is on the disk. */
  async remove(recipient, id) {
    if (this.#forget(recipient, id)) await this.#journal.append(prefix(DELETED, recipient, id));
  }

  breakWrites() {
    return this.#journal.breakWrites();
  }

  close() {
    return this.#journal.close();
  }
}

function prefix(kind, recipient, id) {
  const bytes = Buffer.alloc(PREFIX_BYTES);
  bytes[0] = kind;
  bytes.write(recipient, 1, 'hex');
  bytes.writeBigUInt64BE(id, 33);
  return bytes;
}
