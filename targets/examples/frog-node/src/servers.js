// The list of servers that a client may dial (sections 21 and 41).

const MAX_LEARNED = 64;
const MAX_FAILURES = 3;

/** Bootstrap servers, which stay, and learned ones, which go if they keep failing. */
export class Servers {
  #known = new Map(); // URI to { bootstrap, failures, success, suggested }
  #round = []; // those still to be dialled before any is dialled again

  constructor(bootstrap, cache) {
    for (const uri of bootstrap) this.#known.set(uri, entry(true));
    this.learn(cache);
  }

  get uris() {
    return [...this.#known.keys()];
  }

  /** Takes over canonical URIs, such as those of TRY. */
  learn(uris) {
    for (const uri of uris) {
      if (this.#known.has(uri)) continue;
      this.#makeRoom();
      this.#known.set(uri, entry(false));
    }
  }

  /** A server asks us to go to these: they come first in the next round (15, 49). */
  suggest(uris) {
    if (uris.length === 0) return;
    this.learn(uris);
    for (const [uri, known] of this.#known)
      known.suggested = uris.includes(uri);
    this.restart();
  }

  succeeded(uri, time) {
    const known = this.#known.get(uri);
    if (known) Object.assign(known, { failures: 0, success: time });
  }

  failed(uri) {
    const known = this.#known.get(uri);
    if (!known) return;
    known.failures++;
    if (!known.bootstrap && known.failures >= MAX_FAILURES) {
      this.#known.delete(uri);
    }
  }

  /** Begins a new round with the next server. */
  restart() {
    this.#round = [];
  }

  /**
   * The next server to dial, each once in a round: those that another server
   * named last, those that worked lately, the others, those that failed; in
   * random order among equals.
   */
  next() {
    this.#round = this.#round.filter((uri) => this.#known.has(uri));
    if (this.#round.length === 0) {
      this.#round = shuffled([...this.#known])
        .sort(([, a], [, b]) => rank(a) - rank(b) || b.success - a.success)
        .map(([uri]) => uri);
    }
    const uri = this.#round.shift();
    this.#known.get(uri).suggested = false;
    return uri;
  }

  #makeRoom() {
    const learned = [...this.#known].filter(([, known]) => !known.bootstrap);
    if (learned.length < MAX_LEARNED) return;
    const worst = learned.reduce((a, b) => (rank(b[1]) > rank(a[1]) ? b : a));
    this.#known.delete(worst[0]);
  }
}

const entry = (bootstrap) => ({
  bootstrap,
  failures: 0,
  success: -1,
  suggested: false,
});

function rank({ suggested, failures, success }) {
  if (suggested) return 0;
  if (failures > 0) return 2 + failures;
  return success >= 0 ? 1 : 2;
}

function shuffled(list) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}
