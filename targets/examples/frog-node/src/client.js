// A client that stays registered (sections 41 and 42).
import { EventEmitter } from "node:events";
import { Clock } from "./clock.js";
import { Connection, OperationError } from "./connection.js";
import { keyPair } from "./identity.js";
import { Servers } from "./servers.js";
import { isNetwork, isUri } from "./syntax.js";

const MAX_FACTOR = 33; // with its jitter still less than 50

/**
 * Events: `status` with { registered, uri? }, `signal` with { routeId, peerKey,
 * kind, payload }, `errorCode` with { id, code } of an ERR that answers nothing.
 */
export class Client extends EventEmitter {
  #identity;
  #servers;
  #clock;
  #backoff;
  #connection = null;
  #registeredAt = 0;
  #attempts = 0; // dials since the last time that went well
  #wait = 0; // before the last dial
  #callOff = null;
  #stopped = false;

  constructor({ bootstrap, network, seed, cache = [], backoff = 1000, clock }) {
    super();
    if (bootstrap.length === 0) throw new RangeError("no bootstrap server");
    const bad = bootstrap.find((uri) => !isUri(uri));
    if (bad !== undefined) throw new RangeError(`not canonical: ${bad}`);
    if (!isNetwork(network)) throw new RangeError("no network name");
    const keys = keyPair(seed);
    this.#identity = { keys, peerKey: `${network}:${keys.id}` };
    this.#servers = new Servers(bootstrap, cache.filter(isUri));
    this.#backoff = backoff;
    this.#clock = clock ?? new Clock();
  }

  get peerKey() {
    return this.#identity.peerKey;
  }

  /** All known servers, for the cache of a later life. */
  get servers() {
    return this.#servers.uris;
  }

  start() {
    this.#dial();
  }

  async find(limit) {
    return this.#current().find(limit);
  }

  async lookup(peerKey) {
    return this.#current().lookup(peerKey);
  }

  async getServers(limit) {
    const uris = await this.#current().getServers(limit);
    this.#servers.learn(uris);
    return uris;
  }

  async signal(routeId, kind, payload) {
    return this.#current().signal(routeId, kind, payload);
  }

  /** Deregisters and does not come back. */
  async leave() {
    this.#halt();
    await this.#connection?.leave();
  }

  /** Just ends. */
  stop() {
    this.#halt();
    this.#connection?.close();
  }

  #halt() {
    this.#stopped = true;
    this.#callOff?.();
  }

  #current() {
    if (!this.#connection?.isRegistered) {
      throw new OperationError("there is no registered connection");
    }
    return this.#connection;
  }

  #dial() {
    if (this.#stopped) return;
    const uri = this.#servers.next();
    try {
      this.#connection = new Connection(uri, this.#identity, {
        registered: (connection) => this.#registered(connection),
        gone: (connection, was) => this.#gone(connection, was),
        tried: (uris) => this.#servers.suggest(uris),
        signalled: (routeId, peerKey, kind, payload) =>
          this.emit("signal", { routeId, peerKey, kind, payload }),
        erred: (id, code) => this.emit("errorCode", { id, code }),
      });
    } catch {
      // The WebSocket library cannot dial every canonical URI.
      this.#servers.failed(uri);
      this.#redial();
    }
  }

  async #registered(connection) {
    this.#registeredAt = this.#clock.now();
    this.#servers.succeeded(connection.uri, this.#registeredAt);
    this.emit("status", { registered: true, uri: connection.uri });
    try {
      await this.getServers(7);
    } catch (error) {
      const { id, code } = error;
      if (code) this.emit("errorCode", { id, code });
    }
  }

  #gone(connection, wasRegistered) {
    this.#connection = null;
    if (wasRegistered) {
      const lasted = this.#clock.now() - this.#registeredAt;
      // One that is dropped again and again counts as failing.
      if (lasted >= this.#wait) this.#attempts = 0;
      this.#servers.restart();
      this.emit("status", { registered: false });
    } else {
      this.#servers.failed(connection.uri);
    }
    this.#redial();
  }

  // Backoff and jitter (41).
  #redial() {
    if (this.#stopped) return;
    const factor = Math.min(2 ** this.#attempts++, MAX_FACTOR);
    this.#wait = this.#backoff * factor * (1 + Math.random() / 2);
    this.#callOff = this.#clock.after(this.#wait, () => this.#dial());
  }
}
