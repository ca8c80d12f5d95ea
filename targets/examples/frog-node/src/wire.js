// FROG messages: framing (section 5), header grammar (6) and commands (13).
import * as syntax from "./syntax.js";

export const MAX_HEADER = 4096;
export const MAX_PAYLOAD = 65536;
/** The longest message there is: the longest SIGNAL-FROM header, LF, payload. */
export const MAX_MESSAGE = 95 + 1 + MAX_PAYLOAD;

const LF = 0x0a;

export const ERROR_CODES = new Set([
  "BAD_REQUEST",
  "BAD_STATE",
  "AUTH_REQUIRED",
  "AUTH_FAILED",
  "PEER_NOT_FOUND",
  "LOOKUP_TIMEOUT",
  "ROUTE_NOT_FOUND",
  "ROUTE_EXPIRED",
  "TARGET_MISMATCH",
  "PAYLOAD_TOO_LARGE",
  "RATE_LIMITED",
  "SERVER_UNAVAILABLE",
  "INTERNAL",
]);

/** A message that has to be rejected, with the error that section 38 has for it. */
export class WireError extends Error {
  constructor(message, code = "BAD_REQUEST", id = "-") {
    super(message);
    this.code = code;
    this.id = id;
  }
}

// A field reads its value from text, and writes it as text; it throws for what
// its grammar does not allow.
const text = (name, valid) => ({
  name,
  valid,
  read: (field) => {
    if (!valid(field)) throw new WireError(`no valid ${name}`);
    return field;
  },
  write: (value) => {
    if (typeof value !== "string" || !valid(value)) {
      throw new WireError(`no valid ${name}`);
    }
    return value;
  },
});

const number = (name, min, max) => ({
  name,
  read: (field) => {
    // Never wraps: many digits make a large double (6).
    const value = syntax.isDecimal(field) ? Number(field) : NaN;
    if (!(value >= min && value <= max)) {
      throw new WireError(`${name} is not in ${min}..${max}`);
    }
    return value;
  },
  write: (value) => {
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new WireError(`${name} is not in ${min}..${max}`);
    }
    return String(value);
  },
});

const word = (name, ...words) => text(name, (field) => words.includes(field));
/** This one marks a field whose text is the id of an error (38). */
const correlation = (field) => ({ ...field, correlation: true });
/** A count, and so many items of one or more fields; always the last. */
const list = (name, items, lenient = false) => ({ name, items, lenient });

const VERSION = { literal: "FROG/1" };
const PAYLOAD = { name: "payload" };
const COUNT = number("count", 0, 7);
const LENGTH = number("payload length", 0, MAX_PAYLOAD);

const cid = correlation(text("cid", syntax.isCid));
const fcid = correlation(text("fcid", syntax.isFcid));
const routeId = correlation(text("route_id", syntax.isRouteId));
const cidOrDash = text("cid", (t) => t === "-" || syntax.isCid(t));
const idOrDash = text("id", (t) => t === "-" || syntax.isCid(t));
const code = text("code", (t) => ERROR_CODES.has(t));
const kind = word("kind", "OFFER", "ANSWER", "ICE");
const limit = number("limit", 1, 7);
const ttl = number("ttl", 0, 7);
const nonce = text("nonce", syntax.isNonce);
const peerKey = text("peer_key", syntax.isPeerKey);
const publicKey = text("public_key", syntax.isPublicKey);
const serverId = text("server_id", syntax.isServerId);
const signature = text("signature", syntax.isSignature);
const source = text("source", syntax.isPeerKey);
const target = text("target", syntax.isPeerKey);
const uri = text("uri", syntax.isUri);
const peerKeys = list("peer_keys", [peerKey]);

const GRAMMAR = {
  to_server: {
    HELLO: [VERSION],
    JOIN: [peerKey],
    AUTH: [publicKey, signature],
    LEAVE: [],
    GETSERVERS: [cid, limit],
    FIND: [cid, limit],
    LOOKUP: [cid, peerKey],
    SIGNAL: [routeId, kind, PAYLOAD],
  },
  to_client: {
    HELLO: [VERSION, serverId],
    CHAL: [nonce],
    OK: [word("what", "JOIN", "LEAVE")],
    // A client ignores the URIs that are not canonical, not the message (8).
    TRY: [cidOrDash, list("uris", [uri], true)],
    PEERS: [cid, peerKeys],
    FOUND: [cid, peerKey, routeId],
    "SIGNAL-FROM": [routeId, peerKey, kind, PAYLOAD],
    ERR: [idOrDash, code],
  },
  sister: {
    "@HELLO": [VERSION, serverId, uri],
    "@CHAL": [nonce],
    "@AUTH": [publicKey, signature],
    "@OK": [word("what", "AUTH")],
    "@ERR": [idOrDash, code],
    "@LIST": [fcid, limit],
    "@SERVERS": [fcid, list("servers", [serverId, uri])],
    "@FIND": [fcid, serverId, peerKey, limit, ttl],
    "@PEERS": [fcid, serverId, peerKeys],
    "@LOOKUP": [routeId, serverId, source, target, ttl],
    "@FOUND": [routeId, peerKey],
    "@SIGNAL": [routeId, peerKey, kind, PAYLOAD],
  },
};

/**
 * Decodes one whole message as its receiver in that direction: `to_server`,
 * `to_client` or `sister`. Throws a WireError for what has to be rejected.
 */
export function decode(direction, message) {
  const end = message.subarray(0, MAX_HEADER + 1).indexOf(LF);
  if (end < 0) throw new WireError("no line feed where a header may end");
  const header = message.toString("latin1", 0, end);
  // Printable ASCII in fields of at least one character, single spaces between.
  if (!/^[!-~]+(?: [!-~]+)*$/.test(header)) throw new WireError("bad header");
  const [name, ...fields] = header.split(" ");
  if (!Object.hasOwn(GRAMMAR[direction], name)) {
    throw new WireError(`no command ${name} in this direction`);
  }
  const form = GRAMMAR[direction][name];
  try {
    return readCommand(name, form, fields, message.subarray(end + 1));
  } catch (error) {
    const [first] = form;
    // A client has nobody to send an error to.
    if (direction !== "to_client" && first?.correlation && fields.length > 0) {
      if (first.valid(fields[0])) error.id = fields[0];
    }
    throw error;
  }
}

function readCommand(name, form, fields, payload) {
  const command = { command: name };
  const next = (what) => {
    if (fields.length === 0) throw new WireError(`no ${what}`);
    return fields.shift();
  };
  fields = [...fields];
  let carries = false;
  for (const field of form) {
    if (field === VERSION) {
      if (next("version") !== VERSION.literal) throw new WireError("no FROG/1");
    } else if (field === PAYLOAD) {
      const length = next("payload length");
      if (syntax.isDecimal(length) && Number(length) > MAX_PAYLOAD) {
        throw new WireError("the payload is too long", "PAYLOAD_TOO_LARGE");
      }
      if (LENGTH.read(length) !== payload.length) {
        throw new WireError("the payload has another length");
      }
      command.payload = payload;
      carries = true;
    } else if (field.items) {
      const count = COUNT.read(next("count"));
      if (fields.length !== count * field.items.length) {
        throw new WireError("the count does not match");
      }
      command[field.name] = readList(field, count, fields.splice(0));
    } else {
      command[field.name] = field.read(next(field.name));
    }
  }
  if (fields.length > 0) throw new WireError("fields left over");
  if (!carries && payload.length > 0) throw new WireError("a payload");
  checkNetworks(command);
  return command;
}

function readList({ items, lenient }, count, fields) {
  if (lenient) return fields.filter((field) => items[0].valid(field));
  const width = items.length;
  const list = [];
  for (let i = 0; i < count; i++) {
    const item = items.map((field, j) => field.read(fields[i * width + j]));
    list.push(width === 1 ? item[0] : item);
  }
  return list;
}

/** Encodes a command; throws a WireError for what no sender may emit. */
export function encode(command) {
  const { command: name, ...members } = command;
  const form = formOf(name, members);
  const fields = [name];
  let payload = Buffer.alloc(0);
  const take = (member) => {
    const value = members[member];
    delete members[member];
    return value;
  };
  for (const field of form) {
    if (field === VERSION) {
      fields.push(VERSION.literal);
    } else if (field === PAYLOAD) {
      payload = take("payload");
      if (!Buffer.isBuffer(payload)) throw new WireError("no payload");
      if (payload.length > MAX_PAYLOAD) {
        throw new WireError("the payload is too long", "PAYLOAD_TOO_LARGE");
      }
      fields.push(LENGTH.write(payload.length));
    } else if (field.items) {
      fields.push(...writeList(field, take(field.name)));
    } else {
      fields.push(field.write(take(field.name)));
    }
  }
  const [unknown] = Object.keys(members);
  if (unknown !== undefined) throw new WireError(`${name} has no ${unknown}`);
  checkNetworks(command);
  return Buffer.concat([Buffer.from(fields.join(" ") + "\n"), payload]);
}

function formOf(name, members) {
  const { to_server, to_client, sister } = GRAMMAR;
  // HELLO is the one word that both directions have.
  const grammars = Object.hasOwn(members, "server_id")
    ? [to_client, to_server, sister]
    : [to_server, to_client, sister];
  const grammar = grammars.find((g) => Object.hasOwn(g, name));
  if (!grammar) throw new WireError(`no command ${name}`);
  return grammar[name];
}

function writeList({ name, items }, values) {
  if (!Array.isArray(values)) throw new WireError(`no ${name}`);
  const fields = [COUNT.write(values.length)];
  for (const value of values) {
    const item = items.length === 1 ? [value] : value;
    if (!Array.isArray(item) || item.length !== items.length) {
      throw new WireError(`no valid ${name}`);
    }
    items.forEach((field, i) => fields.push(field.write(item[i])));
  }
  return fields;
}

// A lookup stays in one network (36).
function checkNetworks({ command, source, target }) {
  if (command !== "@LOOKUP") return;
  if (syntax.networkOf(source) !== syntax.networkOf(target)) {
    throw new WireError("two networks");
  }
}
