/** Time that can be put forward. */
export class Clock {
  #offset = 0;
  #alarms = new Set();

  now() {
    return performance.now() + this.#offset;
  }

  /** Calls back in so many milliseconds; returns what calls that off. */
  after(ms, callback) {
    const alarm = { due: this.now() + ms, callback };
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return () => {
      this.#alarms.delete(alarm);
      clearTimeout(alarm.timer);
    };
  }

  /** What falls due by that is called back before this returns. */
  advance(ms) {
    this.#offset += ms;
    for (const alarm of [...this.#alarms]) this.#arm(alarm);
  }

  #arm(alarm) {
    clearTimeout(alarm.timer);
    const left = alarm.due - this.now();
    if (left <= 0) this.#ring(alarm);
    else alarm.timer = setTimeout(() => this.#arm(alarm), Math.ceil(left));
  }

  #ring(alarm) {
    if (this.#alarms.delete(alarm)) alarm.callback();
  }
}
