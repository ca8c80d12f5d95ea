// One WebSocket connection of a client: from the dial to its end (15 to 26).
import { randomBytes } from "node:crypto";
import WebSocket from "ws";
import { encodeBase32 } from "./base32.js";
import { clientAuthString } from "./identity.js";
import { isPeerKey, networkOf } from "./syntax.js";
import { MAX_MESSAGE, MAX_PAYLOAD, WireError, decode, encode } from "./wire.js";

const SUBPROTOCOL = "frog.v1";
const OPEN_TIMEOUT = 10_000;
const HANDSHAKE_TIMEOUT = 30_000; // no challenge lives longer (39)
const REQUEST_TIMEOUT = 15_000;
const LEAVE_TIMEOUT = 5_000;
const CLOSE_TIMEOUT = 1_000;
const PING_INTERVAL = 30_000;
const MAX_ROUTES = 4096;

const DEAD_ROUTE = new Set([
  "ROUTE_NOT_FOUND",
  "ROUTE_EXPIRED",
  "PEER_NOT_FOUND",
]);

/** An operation that did not succeed; `id` and `code` of a server's ERR (38). */
export class OperationError extends Error {
  constructor(message, id, code) {
    super(message);
    this.id = id;
    this.code = code;
  }
}

/**
 * States: dialling, hello (HELLO and JOIN are on their way), join (HELLO is
 * answered), auth (CHAL is answered), registered, leaving, gone.
 *
 * The owner has the methods registered, gone, tried, signalled and erred.
 */
export class Connection {
  #uri;
  #identity; // { keys, peerKey }
  #owner;
  #socket;
  #state = "dialling";
  #serverId;
  #timers = new Set();
  #pending = new Map(); // CID to { expects, resolve, reject }
  #routes = new Map(); // route id to the other peer's key
  #lastCid = 0;
  #alive = true;
  #wasRegistered = false;
  #left;

  constructor(uri, identity, owner) {
    this.#uri = uri;
    this.#identity = identity;
    this.#owner = owner;
    const socket = new WebSocket(uri, [SUBPROTOCOL], {
      handshakeTimeout: OPEN_TIMEOUT,
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    // The library fails the handshake if frog.v1 is not selected (4).
    socket.on("open", () => this.#opened());
    socket.on("message", (data, isBinary) => this.#received(data, isBinary));
    socket.on("pong", () => (this.#alive = true));
    socket.on("error", () => {}); // followed by close
    socket.on("close", () => this.#gone());
  }

  get uri() {
    return this.#uri;
  }

  get isRegistered() {
    return this.#state === "registered";
  }

  async find(limit) {
    const { peer_keys: keys } = await this.#request("FIND", "PEERS", { limit });
    const { peerKey } = this.#identity;
    const network = networkOf(peerKey);
    if (keys.some((key) => networkOf(key) !== network)) {
      throw new OperationError("the answer names peers of another network");
    }
    return keys.filter((key) => key !== peerKey);
  }

  async lookup(key) {
    const own = this.#identity.peerKey;
    if (typeof key !== "string" || !isPeerKey(key)) {
      throw new OperationError("that is no peer key");
    }
    if (key === own) throw new OperationError("that is our own key"); // 23
    if (networkOf(key) !== networkOf(own)) {
      throw new OperationError("that key is of another network");
    }
    const answer = await this.#request("LOOKUP", "FOUND", { peer_key: key });
    if (answer.peer_key !== key || !this.#learnRoute(answer.route_id, key)) {
      throw new OperationError("the answer is about another peer");
    }
    return answer.route_id;
  }

  async getServers(limit) {
    const { uris } = await this.#request("GETSERVERS", "TRY", { limit });
    return uris;
  }

  /** Resolves once the signal is handed to the transport. */
  async signal(routeId, kind, payload) {
    this.#mustBeRegistered();
    // Only what FOUND or SIGNAL-FROM named on this very connection (22, 25).
    if (!this.#routes.has(routeId)) {
      throw new OperationError("that route is not known on this connection");
    }
    if (payload.length > MAX_PAYLOAD) {
      throw new OperationError("the payload is too long");
    }
    const command = { command: "SIGNAL", route_id: routeId, kind, payload };
    const message = this.#encode(command);
    // One message in two frames: header and payload.
    const split = message.length - payload.length;
    await new Promise((resolve, reject) => {
      const done = (error) =>
        error
          ? reject(new OperationError("the connection is lost"))
          : resolve();
      const header = message.subarray(0, split);
      this.#socket.send(header, { binary: true, fin: false });
      this.#socket.send(message.subarray(split), { binary: true }, done);
    });
  }

  /** Resolves once OK LEAVE came or the connection is gone (19). */
  leave() {
    if (this.#state === "dialling" || this.#state === "hello") this.close();
    if (this.#state === "gone") return Promise.resolve();
    this.#left ??= new Promise((resolve) => {
      this.#pending.set("LEAVE", { resolve, reject: resolve });
      this.#send({ command: "LEAVE" });
      this.#state = "leaving";
      this.#later(LEAVE_TIMEOUT, () => this.close());
    });
    return this.#left;
  }

  /** Closes; what becomes of the WebSocket afterwards is of no interest. */
  close(code = 1000) {
    if (this.#state === "gone") return;
    const socket = this.#socket;
    if (socket.readyState === WebSocket.OPEN) {
      socket.close(code);
      setTimeout(() => socket.terminate(), CLOSE_TIMEOUT).unref();
    } else {
      socket.terminate();
    }
    this.#gone();
  }

  #opened() {
    if (this.#state !== "dialling") return;
    this.#state = "hello";
    // The server takes them in order: no need to wait in between.
    this.#send({ command: "HELLO" });
    this.#send({ command: "JOIN", peer_key: this.#identity.peerKey });
    this.#later(HANDSHAKE_TIMEOUT, () => {
      if (this.#state !== "registered") this.close();
    });
    this.#later(PING_INTERVAL, () => this.#ping());
  }

  #ping() {
    if (!this.#alive) return this.close(1001);
    this.#alive = false;
    this.#socket.ping();
    this.#later(PING_INTERVAL, () => this.#ping());
  }

  #gone() {
    if (this.#state === "gone") return;
    this.#state = "gone";
    for (const timer of this.#timers) clearTimeout(timer);
    for (const { reject } of this.#pending.values()) {
      reject(new OperationError("the connection is lost"));
    }
    this.#pending.clear();
    this.#routes.clear();
    this.#owner.gone(this, this.#wasRegistered);
  }

  #later(ms, callback) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      callback();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  #send(command) {
    this.#socket.send(encode(command), { binary: true });
  }

  #encode(command) {
    try {
      return encode(command);
    } catch (error) {
      if (error instanceof WireError) throw new OperationError(error.message);
      throw error;
    }
  }

  #mustBeRegistered() {
    if (!this.isRegistered) {
      throw new OperationError("there is no registered connection");
    }
  }

  async #request(command, expects, members) {
    this.#mustBeRegistered();
    // Never used twice, and with its underscore never a route id (7.9).
    const cid = `_${encodeBase32(randomBytes(10))}-${++this.#lastCid}`;
    const message = this.#encode({ command, cid, ...members });
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(cid, { expects, resolve, reject });
    });
    const timer = this.#later(REQUEST_TIMEOUT, () => {
      this.#pending.get(cid)?.reject(new OperationError("no answer in time"));
    });
    this.#socket.send(message, { binary: true });
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      this.#timers.delete(timer);
      this.#pending.delete(cid);
    }
  }

  #learnRoute(routeId, peerKey) {
    const known = this.#routes.get(routeId);
    if (known !== undefined) return known === peerKey;
    if (this.#routes.size >= MAX_ROUTES) {
      this.#routes.delete(this.#routes.keys().next().value);
    }
    this.#routes.set(routeId, peerKey);
    return true;
  }

  #received(data, isBinary) {
    if (this.#state === "gone") return;
    this.#alive = true;
    if (!isBinary) return this.close(1003); // 4
    let command;
    try {
      command = decode("to_client", data);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return this.close(1002);
    }
    switch (command.command) {
      case "TRY":
        return this.#onTry(command);
      case "ERR":
        return this.#onErr(command);
      case "PEERS":
      case "FOUND":
        return this.#onAnswer(command);
      case "SIGNAL-FROM":
        return this.#onSignal(command);
      default:
        return this.#onHandshake(command);
    }
  }

  #onHandshake(command) {
    const step = `${this.#state} ${command.command} ${command.what ?? ""}`;
    switch (step.trim()) {
      case "hello HELLO":
        this.#serverId = command.server_id;
        this.#state = "join";
        return;
      case "join CHAL":
        this.#authenticate(command.nonce);
        this.#state = "auth";
        return;
      case "auth OK JOIN":
        this.#state = "registered";
        this.#wasRegistered = true;
        this.#owner.registered(this);
        return;
      case "leaving OK LEAVE":
        this.#pending.get("LEAVE")?.resolve();
        // The server closes (19); if it does not, we do.
        this.#later(CLOSE_TIMEOUT, () => this.close());
        return;
    }
    // Out of turn: no registration comes of this connection.
    if (["hello", "join", "auth"].includes(this.#state)) this.close(1002);
  }

  #authenticate(nonce) {
    const { keys, peerKey } = this.#identity;
    const text = clientAuthString({
      nonce,
      serverUri: this.#uri, // the one that we dialled, whatever the server says (12.1)
      peerKey,
      serverId: this.#serverId,
    });
    this.#send({
      command: "AUTH",
      public_key: keys.publicKey,
      signature: keys.sign(text),
    });
  }

  #onTry(command) {
    if (command.cid === "-") this.#owner.tried(command.uris);
    else this.#onAnswer(command);
  }

  // Answers are matched by CID (20); one to nothing that we asked is ignored.
  #onAnswer(command) {
    const request = this.#pending.get(command.cid);
    if (request?.expects === command.command) request.resolve(command);
  }

  #onErr({ id, code }) {
    const request = this.#pending.get(id);
    if (request?.expects) {
      request.reject(new OperationError(code, id, code));
      return;
    }
    this.#owner.erred(id, code);
    if (this.#state === "leaving") return;
    if (this.#state !== "registered") this.close();
    else if (DEAD_ROUTE.has(code)) this.#routes.delete(id);
  }

  #onSignal({ route_id: routeId, peer_key: peerKey, kind, payload }) {
    if (!this.isRegistered) return;
    const own = this.#identity.peerKey;
    if (peerKey === own || networkOf(peerKey) !== networkOf(own)) return;
    if (!this.#learnRoute(routeId, peerKey)) return;
    this.#owner.signalled(routeId, peerKey, kind, payload);
  }
}
