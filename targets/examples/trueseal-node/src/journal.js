/** An append-only file of records, each on the disk before it is confirmed. */
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

/** Before each record: its length and its CRC-32, u32 big-endian. */
const HEAD_BYTES = 8;

async function syncFolder(path) {
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}

export class Journal {
  #path;
  #file;
  #size;
  #queue = [];
  #running = null;
  #failure = null;

  constructor(path, file, size) {
    this.#path = path;
    this.#file = file;
    this.#size = size;
  }

  /**
   * Opens or makes the file and replays it. Half a record at the end, from a crash, is cut off: nobody was told of it.
   * @param {string} path
   * @param {(record: Buffer, offset: number) => void} replay `offset` is for `read`
   */
  static async open(path, replay) {
    const file = await open(path, 'a+').then((made) => made.close()).then(() => open(path, 'r+'));
    try {
      const { size } = await file.stat();
      let at = 0;
      const head = Buffer.alloc(HEAD_BYTES);
      while (at + HEAD_BYTES <= size) {
        await file.read(head, 0, HEAD_BYTES, at);
        const length = head.readUInt32BE();
        if (at + HEAD_BYTES + length > size) break;
        const record = Buffer.alloc(length);
        await file.read(record, 0, length, at + HEAD_BYTES);
        if (crc32(record) !== head.readUInt32BE(4)) break;
        replay(record, at + HEAD_BYTES);
        at += HEAD_BYTES + length;
      }
      if (at < size) await file.truncate(at);
      await file.sync();
      await syncFolder(path);
      return new Journal(path, file, at);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Resolves with the record's offset once it is on the disk; records get there in the order of the calls. */
  append(...parts) {
    const record = Buffer.concat(parts);
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, resolve, reject });
      this.#running ??= this.#run().finally(() => (this.#running = null));
    });
  }

  /** All that waits goes with one write and one sync. */
  async #run() {
    await null; // those of the same turn go together
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0);
      try {
        if (this.#failure) throw this.#failure;
        const offsets = await this.#commit(batch.map(({ record }) => record));
        batch.forEach(({ resolve }, index) => resolve(offsets[index]));
      } catch (error) {
        // What a failed write or sync left is unknown, so this journal takes no more; the next one replays it.
        this.#failure = error;
        batch.forEach(({ reject }) => reject(error));
      }
    }
  }

  async #commit(records) {
    const parts = [];
    const offsets = [];
    let at = this.#size;
    for (const record of records) {
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32BE(record.length);
      head.writeUInt32BE(crc32(record), 4);
      parts.push(head, record);
      offsets.push(at + HEAD_BYTES);
      at += HEAD_BYTES + record.length;
    }
    const bytes = Buffer.concat(parts);
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#size + done);
      done += bytesWritten;
    }
    await this.#file.datasync();
    this.#size = at;
    return offsets;
  }

  /** Bytes of a record, or of its tail. */
  async read(offset, length) {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await this.#file.read(bytes, 0, length, offset);
    if (bytesRead !== length) throw new Error('the journal is shorter than it was');
    return bytes;
  }

  /** For tests of what happens on a bad disk: from now on every write fails, reads go on. */
  async breakWrites() {
    const writable = this.#file;
    this.#file = await open(this.#path, 'r');
    await writable.close();
  }

  async close() {
    while (this.#running) await this.#running;
    this.#failure ??= new Error('closed');
    await this.#file.close();
  }
}
