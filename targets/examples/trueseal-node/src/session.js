/** A session: a handshake on a line, then frames both ways. */
import { FrameReader, cut, encodeFrame } from './frame.js';
import { Handshake } from './noise.js';

const HANDSHAKE_MS = 10_000;
/** A Heartbeat that comes so soon behind one of ours is the answer to it, and is not answered again. */
const ECHO_MS = 200;

export class Session {
  #line;
  #messages;
  #cipher;
  #lastSent = performance.now();
  #beatSent = -Infinity;
  #timer;

  /** The peer's static key: the device in XX, the relay in both. @type {Buffer} */
  peer;

  constructor(line, messages, cipher, peer) {
    this.#line = line;
    this.#messages = messages;
    this.#cipher = cipher;
    this.peer = peer;
  }

  /**
   * Shakes hands as either side; null where it does not come to a session, and then the line is closed.
   * @param {import('./line.js').Line} line
   * @param {'NK' | 'XX'} pattern
   * @param {ConstructorParameters<typeof Handshake>[1]} options as initiator with `remoteStatic`: no other peer will do
   */
  static async establish(line, pattern, options) {
    const expected = options.initiator ? options.remoteStatic : undefined;
    const late = setTimeout(() => line.destroy(), HANDSHAKE_MS);
    const messages = line.messages();
    try {
      const handshake = new Handshake(pattern, options);
      if (options.initiator) line.write(handshake.write());
      while (!handshake.done) {
        const { value, done } = await messages.next();
        if (done) throw new Error('the peer hung up');
        handshake.read(value);
        if (expected && !handshake.remoteStatic.equals(expected)) throw new Error('another relay answered');
        if (!handshake.done) line.write(handshake.write());
      }
      return new Session(line, messages, handshake.split(), handshake.remoteStatic);
    } catch {
      line.close();
      return null;
    } finally {
      clearTimeout(late);
    }
  }

  get closed() {
    return this.#line.closed;
  }

  /**
   * The frames of the peer, until it hangs up. Throws where something is malformed or does not authenticate.
   * @param {{ keep?: number }} [options] see FrameReader
   */
  async *frames(options) {
    const reader = new FrameReader(options);
    for await (const message of this.#messages) {
      yield* reader.read(this.#cipher.receiver.decrypt(message));
    }
  }

  /** @param {import('./frame.js').Frame} frame */
  send(frame) {
    if (this.closed) return;
    for (const plaintext of cut(encodeFrame(frame))) this.#line.write(this.#cipher.sender.encrypt(plaintext));
    this.#lastSent = performance.now();
  }

  /** Resolves when more can be sent. */
  room() {
    return this.#line.room();
  }

  /** Sends a Heartbeat of our own. */
  beat() {
    this.send({ type: 'heartbeat' });
    this.#beatSent = performance.now();
  }

  /** Answers a Heartbeat, unless it is the answer to ours. */
  answerBeat() {
    const echo = performance.now() - this.#beatSent < ECHO_MS;
    this.#beatSent = -Infinity;
    if (!echo) this.send({ type: 'heartbeat' });
  }

  /** Beats whenever nothing was sent for so long. */
  keepAlive(idleMs) {
    this.#timer = setInterval(() => {
      if (this.closed) clearInterval(this.#timer);
      else if (performance.now() - this.#lastSent >= idleMs) this.beat();
    }, idleMs / 4);
    this.#timer.unref();
  }

  close() {
    clearInterval(this.#timer);
    this.#line.close();
  }

  destroy() {
    clearInterval(this.#timer);
    this.#line.destroy();
  }
}
