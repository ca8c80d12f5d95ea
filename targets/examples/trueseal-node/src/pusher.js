/** Empties the outbox: one Push at a time, the next one only when the last is answered. */

/** A relay that has not answered a Push for so long is given up. */
const ANSWER_MS = 15_000;
/** How long a Push Session is kept after the last answer, for what the application may push next. */
const LINGER_MS = 400;

export class Pusher {
  #store;
  #open;
  #pause;
  #settled;
  #running = false;
  /** Ends the wait of a session that has nothing to do. @type {(() => void) | null} */
  #woken = null;

  /**
   * @param {{ store: import('./client-store.js').ClientStore,
   *           open: () => Promise<import('./session.js').Session | null>,
   *           pause: (failures: number) => Promise<boolean>,
   *           settled: (event: 'pushed' | 'rejected', id: string) => void }} parts
   */
  constructor({ store, open, pause, settled }) {
    this.#store = store;
    this.#open = open;
    this.#pause = pause;
    this.#settled = settled;
  }

  /** Something was put into the outbox. */
  wake() {
    this.#woken?.();
    if (!this.#running) this.#run().catch((error) => console.error(`push: ${error.message}`));
  }

  async #run() {
    this.#running = true;
    try {
      let failures = 0;
      while (this.#store.next()) {
        const progress = await this.#visit();
        failures = progress ? 1 : failures + 1;
        if (this.#store.next() && !progress && !(await this.#pause(failures))) return;
      }
    } finally {
      this.#running = false;
    }
  }

  /** One session; whether anything was settled in it. */
  async #visit() {
    const blob = this.#store.next();
    const session = await this.#open();
    if (!session) {
      blob.attempts += 1;
      return false;
    }
    const answers = this.#answers(session);
    try {
      let progress = false;
      while (await this.#something(session)) {
        if (!(await this.#push(session, answers, this.#store.next()))) break;
        progress = true;
      }
      return progress;
    } finally {
      session.close();
      answers.stop();
    }
  }

  /** Whether there is a blob to push, now or within the linger. */
  async #something(session) {
    if (!this.#store.next()) {
      await new Promise((resolve) => {
        this.#woken = resolve;
        setTimeout(resolve, LINGER_MS);
      });
      this.#woken = null;
    }
    return this.#store.next() !== null && !session.closed;
  }

  /** Whether it was answered. */
  async #push(session, answers, blob) {
    blob.attempts += 1;
    const envelope = await this.#store.envelope(blob);
    const settled = answers.of(blob);
    session.send({ type: 'push', recipient: blob.recipient, envelope });
    return settled;
  }

  /** An answer is on the disk before anything behind it is looked at: who has heard it never pushes that blob again. */
  async #settle(blob, type) {
    await this.#store.settle(blob);
    this.#settled(type === 'ack' ? 'pushed' : 'rejected', blob.id);
  }

  /** Reads a session; `of` resolves with whether the blob that is pushed was answered. */
  #answers(session) {
    /** @type {{ blob: object, late: NodeJS.Timeout, tell: (answered: boolean) => void } | null} */
    let waiting = null;
    let over = false;
    const take = () => {
      const taken = waiting;
      waiting = null;
      clearTimeout(taken?.late);
      return taken;
    };
    const read = async () => {
      for await (const { type } of session.frames()) {
        if (type === 'heartbeat') session.answerBeat();
        if (type !== 'ack' && type !== 'error') continue;
        const answered = take(); // an answer that nobody waits for is of no blob
        if (answered) await this.#settle(answered.blob, type).finally(() => answered.tell(true));
      }
    };
    const stop = () => take()?.tell(false);
    read()
      .catch((error) => console.error(`push session: ${error.message}`))
      .finally(() => {
        over = true;
        session.close();
        stop();
        this.#woken?.();
      });
    const of = (blob) =>
      new Promise((tell) => {
        if (over) tell(false);
        else waiting = { blob, tell, late: setTimeout(stop, ANSWER_MS) };
      });
    return { of, stop };
  }
}
