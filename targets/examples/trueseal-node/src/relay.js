/** The relay: anonymous Push Sessions on one port, Receive Sessions of devices on another. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Device } from './device.js';
import { KEY_BYTES, MAX_ENVELOPE, Malformed, decodeBody } from './frame.js';
import { InboxStore } from './inbox-store.js';
import { Line } from './line.js';
import { Session } from './session.js';

/** A Push Session in which nothing is said for so long is closed. */
const PUSH_IDLE_MS = 60_000;
/** In a Receive Session in which the relay has said nothing for so long, it beats. */
const BEAT_MS = 2_500;

/**
 * @typedef {{ keyPair: import('./keys.js').KeyPair, stateDir: string, limit?: number,
 *             host?: string, pushPort?: number, receivePort?: number }} RelayOptions
 */

export class Relay {
  #keyPair;
  #limit;
  #store;
  #servers = [];
  #lines = new Set();
  /** Those with a live session, by key in hex. @type {Map<string, Device>} */
  #devices = new Map();

  /** Resolves once both ports listen. @param {RelayOptions} options */
  static async start({ keyPair, stateDir, limit = MAX_ENVELOPE, host = '127.0.0.1', pushPort = 0, receivePort = 0 }) {
    const relay = new Relay();
    relay.#keyPair = keyPair;
    relay.#limit = Math.min(limit, MAX_ENVELOPE);
    relay.#store = await InboxStore.open(stateDir);
    relay.pushPort = await relay.#listen(host, pushPort, (line) => relay.#servePush(line));
    relay.receivePort = await relay.#listen(host, receivePort, (line) => relay.#serveReceive(line));
    return relay;
  }

  async #listen(host, port, serve) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const line = new Line(socket);
      this.#lines.add(line);
      socket.once('close', () => this.#lines.delete(line));
      serve(line).catch((error) => {
        if (!(error instanceof Malformed)) console.error(`session: ${error.message}`);
        line.close();
      });
    });
    this.#servers.push(server);
    server.listen(port, host);
    await once(server, 'listening');
    return server.address().port;
  }

  /** One Push after the other: each is answered before the next is looked at. */
  async #servePush(line) {
    const session = await Session.establish(line, 'NK', { initiator: false, static: this.#keyPair });
    if (!session) return;
    const idle = setTimeout(() => session.close(), PUSH_IDLE_MS);
    try {
      for await (const frame of session.frames({ keep: KEY_BYTES + this.#limit })) {
        idle.refresh();
        if (frame.type === 'heartbeat') session.answerBeat();
        if (frame.type !== 'push') continue; // nothing else means anything here
        if (!(await this.#accept(frame))) {
          session.send({ type: 'error' });
          break; // an Error ends the session: what was sent behind it is neither stored nor answered
        }
        session.send({ type: 'ack' });
      }
    } finally {
      clearTimeout(idle);
      session.close();
    }
  }

  /** Whether a Push was stored; throws where the store fails, which is neither an Ack nor an Error. */
  async #accept(frame) {
    if (frame.length < KEY_BYTES || frame.length - KEY_BYTES > this.#limit) return false;
    const { recipient, envelope } = decodeBody(frame);
    const id = await this.#store.add(recipient, envelope);
    this.#devices.get(recipient.toString('hex'))?.arrived(id);
    return true;
  }

  async #serveReceive(line) {
    const session = await Session.establish(line, 'XX', { initiator: false, static: this.#keyPair });
    if (!session) return;
    const name = session.peer.toString('hex');
    let device = this.#devices.get(name);
    if (!device) this.#devices.set(name, (device = new Device(name, this.#store)));
    device.attach(session);
    session.keepAlive(BEAT_MS);
    try {
      await this.#listenTo(session, device);
    } finally {
      session.close();
      if (device.detach(session) === 0 && this.#devices.get(name) === device) this.#devices.delete(name);
    }
  }

  async #listenTo(session, device) {
    let deleted = Promise.resolve();
    let failed = null;
    for await (const frame of session.frames()) {
      if (failed) throw failed;
      if (frame.type === 'heartbeat') {
        await deleted; // an answer says that all before it is done
        session.answerBeat();
      } else if (frame.type === 'deliver_ack') {
        if (frame.length !== 8) continue; // names no blob
        deleted = device.acknowledged(session, decodeBody(frame).blobId);
        deleted.catch((error) => {
          failed = error;
          session.close();
        });
      } else if (frame.type === 'push') {
        throw new Malformed('a Push in a Receive Session'); // it could not be anonymous here
      }
    }
  }

  /** For tests: nothing can be stored from now on. */
  breakStore() {
    return this.#store.breakWrites();
  }

  async stop() {
    for (const server of this.#servers) server.close();
    for (const line of this.#lines) line.destroy();
    await this.#store.close();
  }
}
