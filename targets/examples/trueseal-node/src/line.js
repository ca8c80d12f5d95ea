/** Noise messages on TCP: each stands behind its length, u16 big-endian. */
import { once } from 'node:events';

const PREFIX_BYTES = 2;
const MAX_MESSAGE = 65_535;
/** What is written is cut here, with no regard to messages. */
const SEGMENT_BYTES = 16_381;
/** How long a peer may go on talking to a side that has closed. */
const LINGER_MS = 1_000;

export class Line {
  #socket;
  #queue = [];
  #scheduled = null;
  #closing = false;

  /** @param {import('node:net').Socket} socket made with `allowHalfOpen` */
  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => {}); // a lost connection shows as the end of `messages`
  }

  get closed() {
    return this.#closing || this.#socket.destroyed || !this.#socket.writable;
  }

  /** The messages of the peer, until it closes or the connection is lost. */
  async *messages() {
    let buffer = Buffer.alloc(0);
    try {
      for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
        buffer = buffer.length ? Buffer.concat([buffer, chunk]) : chunk;
        while (buffer.length >= PREFIX_BYTES) {
          const end = PREFIX_BYTES + buffer.readUInt16BE();
          if (buffer.length < end) break;
          yield buffer.subarray(PREFIX_BYTES, end);
          buffer = buffer.subarray(end);
        }
      }
    } catch (error) {
      if (!this.#socket.destroyed) throw error; // ours, not the network's
    }
  }

  /** Queues a message. All of one turn of the event loop leave together. */
  write(message) {
    if (message.length > MAX_MESSAGE) throw new RangeError('a Noise message has at most 65,535 bytes');
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt16BE(message.length);
    this.#queue.push(prefix, message);
    this.#scheduled ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#flush());
  }

  /** Resolves when there is room for more, or the connection is gone. */
  async room() {
    await this.#scheduled;
    if (this.#socket.destroyed || !this.#socket.writableNeedDrain) return;
    const leave = new AbortController();
    const { signal } = leave;
    await Promise.race([once(this.#socket, 'drain', { signal }), once(this.#socket, 'close', { signal })]).catch(() => {});
    leave.abort();
  }

  /** The first byte goes alone, so that every reader meets half a length; the rest in segments. */
  #flush() {
    this.#scheduled = null;
    const bytes = Buffer.concat(this.#queue);
    this.#queue = [];
    if (bytes.length === 0 || !this.#socket.writable) return;
    this.#socket.write(bytes.subarray(0, 1));
    for (let at = 1; at < bytes.length; at += SEGMENT_BYTES) {
      this.#socket.write(bytes.subarray(at, at + SEGMENT_BYTES));
    }
  }

  /** Says the last word and FIN; what the peer still says is thrown away, so that no RST overtakes our words. */
  close() {
    if (this.#closing) return;
    this.#closing = true;
    this.#flush();
    if (this.#socket.destroyed) return;
    this.#socket.end();
    this.#socket.resume();
    const late = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('end', () => this.#socket.destroySoon());
    this.#socket.once('close', () => clearTimeout(late));
    if (this.#socket.readableEnded) this.#socket.destroySoon();
  }

  destroy() {
    this.#closing = true;
    this.#socket.destroy();
  }
}
