/**
 * A device with live Receive Sessions. Only the newest of them is served; an older one is left alone, and is served
 * again if it is the one that remains.
 */

/** A blob that was not acknowledged for so long is sent once more in the same session. */
const REPEAT_MS = 1_000;

/**
 * What one session was sent. `waiting` is a stack: the newest blob goes first.
 * @typedef {{ waiting: bigint[], sent: Map<bigint, { at: number, times: number }>, busy: boolean,
 *             timer: NodeJS.Timeout }} Desk
 */

export class Device {
  #name;
  #store;
  /** Oldest first. @type {Map<import('./session.js').Session, Desk>} */
  #desks = new Map();

  /** @param {string} name its key in hex @param {import('./inbox-store.js').InboxStore} store */
  constructor(name, store) {
    this.#name = name;
    this.#store = store;
  }

  get #served() {
    return [...this.#desks.keys()].at(-1);
  }

  attach(session) {
    const timer = setInterval(() => this.#repeat(session), REPEAT_MS / 2);
    timer.unref();
    this.#desks.set(session, { waiting: [], sent: new Map(), busy: false, timer });
    this.#serve();
  }

  /** Returns how many sessions remain. */
  detach(session) {
    clearInterval(this.#desks.get(session)?.timer);
    const served = this.#served === session;
    this.#desks.delete(session);
    if (served && this.#desks.size > 0) this.#serve();
    return this.#desks.size;
  }

  /** A blob was stored for this device. */
  arrived(id) {
    const session = this.#served;
    if (!session) return;
    const desk = this.#desks.get(session);
    if (desk.sent.has(id) || desk.waiting.at(-1) === id) return; // a session that began just now has it already
    desk.waiting.push(id);
    this.#pump(session);
  }

  /** Any session of a device may acknowledge, but only what is in its own inbox. */
  acknowledged(session, id) {
    for (const desk of this.#desks.values()) desk.sent.delete(id);
    return this.#store.remove(this.#name, id);
  }

  /** The newest session gets all that it has not been sent. */
  #serve() {
    const session = this.#served;
    const desk = this.#desks.get(session);
    desk.waiting = this.#store.ids(this.#name).filter((id) => !desk.sent.has(id));
    this.#pump(session);
  }

  #repeat(session) {
    if (session !== this.#served) return;
    const desk = this.#desks.get(session);
    const before = performance.now() - REPEAT_MS;
    for (const [id, entry] of desk.sent) {
      if (entry.times === 1 && entry.at < before) {
        entry.times = 2;
        desk.waiting.push(id);
      }
    }
    this.#pump(session);
  }

  /** Sends as long as there is something to send and the peer takes it; acknowledgements are not waited for. */
  async #pump(session) {
    const desk = this.#desks.get(session);
    if (desk.busy) return;
    desk.busy = true;
    try {
      while (desk.waiting.length > 0 && session === this.#served && !session.closed) {
        const id = desk.waiting.pop();
        const envelope = await this.#store.read(this.#name, id);
        if (!envelope || !this.#store.has(this.#name, id) || session !== this.#served) continue;
        const entry = desk.sent.get(id) ?? { times: 1 };
        desk.sent.set(id, { ...entry, at: performance.now() });
        session.send({ type: 'deliver', blobId: id, envelope });
        await session.room();
      }
    } catch (error) {
      console.error(`deliver: ${error.message}`);
      session.close();
    } finally {
      desk.busy = false;
    }
  }
}
