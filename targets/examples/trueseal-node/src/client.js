/** A device: one Receive Session for as long as it lives, Push Sessions while there is something to push. */
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { ClientStore } from './client-store.js';
import { KEY_BYTES, MAX_ENVELOPE, decodeBody } from './frame.js';
import { Line } from './line.js';
import { Pusher } from './pusher.js';
import { Session } from './session.js';

/** In a Receive Session in which the device has said nothing for so long, it beats. */
const BEAT_MS = 1_500;
/** So many deliveries may wait for the disk at once. */
const MAX_WRITING = 32;
const RETRY_MS = 500;
const MAX_RETRY_MS = 4_000;

/**
 * @typedef {{ keyPair: import('./keys.js').KeyPair, relayKey: Buffer, stateDir: string, host?: string,
 *             pushPort: number, receivePort: number, retryMs?: number }} ClientOptions
 */

/** Emits `received` with an envelope, `pushed` and `rejected` with the name that `push` gave. */
export class Client extends EventEmitter {
  #options;
  #store;
  #pusher;
  #session = null;
  #lines = new Set();
  #stopped = new AbortController();

  /** Dials in the background. @param {ClientOptions} options */
  static async start(options) {
    const client = new Client();
    client.#options = { ...options, host: options.host ?? '127.0.0.1', retryMs: options.retryMs ?? RETRY_MS };
    client.#store = await ClientStore.open(options.stateDir);
    client.#pusher = new Pusher({
      store: client.#store,
      open: () => client.#dial(options.pushPort, 'NK', {}),
      pause: (failures) => client.#pause(failures),
      settled: (event, id) => client.emit(event, id),
    });
    client.#receive();
    client.#pusher.wake();
    return client;
  }

  /** Resolves with a name once the blob is in the outbox. @param {Buffer} recipient @param {Buffer} envelope */
  async push(recipient, envelope) {
    if (recipient.length !== KEY_BYTES) throw new RangeError('a recipient has 32 bytes');
    if (envelope.length > MAX_ENVELOPE) throw new RangeError('an envelope has at most 1,048,576 bytes');
    const id = await this.#store.queue(recipient, envelope);
    this.#pusher.wake();
    return id;
  }

  received() {
    return this.#store.received();
  }

  /** Whether a Heartbeat could be sent. */
  heartbeat() {
    if (!this.#session || this.#session.closed) return false;
    this.#session.beat();
    return true;
  }

  async #dial(port, pattern, keys) {
    const { host, relayKey } = this.#options;
    const socket = connect({ host, port, allowHalfOpen: true });
    const line = new Line(socket);
    this.#lines.add(line);
    socket.once('close', () => this.#lines.delete(line));
    try {
      await once(socket, 'connect', { signal: this.#stopped.signal });
    } catch {
      line.destroy();
      return null;
    }
    return Session.establish(line, pattern, { initiator: true, remoteStatic: relayKey, ...keys });
  }

  /** Waits longer after each failure in a row; false once the client was stopped. */
  async #pause(failures) {
    const { retryMs } = this.#options;
    const ms = Math.min(retryMs * 2 ** Math.max(failures - 1, 0), Math.max(MAX_RETRY_MS, retryMs));
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopped.signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
    });
    return !this.#stopped.signal.aborted;
  }

  async #receive() {
    let failures = 0;
    do {
      this.#session = await this.#dial(this.#options.receivePort, 'XX', { static: this.#options.keyPair });
      failures = this.#session ? 1 : failures + 1;
      if (this.#session) {
        this.#session.keepAlive(BEAT_MS);
        await this.#listenTo(this.#session).catch((error) => console.error(`receive: ${error.message}`));
        this.#session.close();
        this.#session = null;
      }
    } while (await this.#pause(failures));
  }

  async #listenTo(session) {
    const acks = [];
    const writing = new Set();
    for await (const frame of session.frames()) {
      if (frame.type === 'heartbeat') session.answerBeat();
      if (frame.type !== 'deliver') continue; // nothing else means anything here
      const kept = this.#keep(session, decodeBody(frame), acks).finally(() => writing.delete(kept));
      if (writing.add(kept).size >= MAX_WRITING) await Promise.race(writing);
    }
  }

  /** Several are written at once; their acknowledgements leave together, the last one first. */
  async #keep(session, { blobId, envelope }, acks) {
    try {
      if (await this.#store.receive(envelope)) this.emit('received', envelope);
    } catch (error) {
      console.error(`store: ${error.message}`);
      session.close(); // not kept, so not acknowledged: it will come again
      return;
    }
    if (acks.push(blobId) > 1) return;
    setImmediate(() => {
      for (const id of acks.splice(0).reverse()) session.send({ type: 'deliver_ack', blobId: id });
    });
  }

  async stop() {
    this.#stopped.abort();
    for (const line of this.#lines) line.destroy();
    await this.#store.close();
  }
}
