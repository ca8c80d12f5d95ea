#!/usr/bin/env node
// Codec and client for a test harness: JSON Lines on stdin and stdout.
import { createInterface } from "node:readline";
import {
  Client,
  Clock,
  OperationError,
  WireError,
  clientAuthString,
  decode,
  decodeBase32,
  encode,
  encodeBase32,
  identify,
  keyPair,
  serverAuthString,
  syntax,
  verifyClient,
  verifyServer,
} from "./src/index.js";

class Refused extends Error {}
class Unsupported extends Error {}

const HELLO = {
  name: "frog-node",
  version: "0.1.0",
  language: "javascript",
  protocol: 1,
  roles: {
    "frog/codec": ["to_server", "to_client", "sister", "verify"],
    "frog/client": ["cache", "backoff_ms", "clock", "kill"],
  },
};

const KINDS = {
  network: syntax.isNetwork,
  fingerprint: syntax.isFingerprint,
  peer_key: syntax.isPeerKey,
  server_id: syntax.isServerId,
  route_id: syntax.isRouteId,
  nonce: syntax.isNonce,
  cid: syntax.isCid,
  fcid: syntax.isFcid,
  public_key: syntax.isPublicKey,
  signature: syntax.isSignature,
  uri: syntax.isUri,
};

const codec = {
  decode({ direction, wire }) {
    if (!["to_server", "to_client", "sister"].includes(direction)) {
      throw new Unsupported(`direction ${direction}`);
    }
    try {
      const command = decode(direction, bytes(wire));
      if (command.payload) command.payload = command.payload.toString("hex");
      return { command };
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      // Only who has a server's part has an error to answer with.
      const { code, id, message } = error;
      throw new Refused(
        direction === "to_client" ? message : `${code} ${id} ${message}`,
      );
    }
  },

  encode({ command }) {
    const members = { ...command };
    if (typeof members.payload === "string") {
      members.payload = bytes(members.payload);
    }
    try {
      return { wire: encode(members).toString("hex") };
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      throw new Refused(error.message);
    }
  },

  check({ kind, text }) {
    if (!Object.hasOwn(KINDS, kind)) throw new Unsupported(`kind ${kind}`);
    return { valid: KINDS[kind](text) };
  },

  base32_encode: (args) => ({ text: encodeBase32(bytes(args.bytes)) }),

  base32_decode({ text, size }) {
    const decoded = decodeBase32(text, size);
    if (!decoded) throw new Refused("not the canonical text of so many bytes");
    return { bytes: decoded.toString("hex") };
  },

  identify({ public_key: text }) {
    const raw = decodeBase32(text, 32);
    if (!raw) throw new Refused("no public key");
    return { id: identify(raw) };
  },

  client_auth(args) {
    const { network, nonce, server_uri: serverUri, server_id: serverId } = args;
    demand({ network, nonce, uri: serverUri, server_id: serverId });
    const keys = keys32(args.seed);
    const peerKey = `${network}:${keys.id}`;
    return {
      peer_key: peerKey,
      public_key: keys.publicKey,
      signature: keys.sign(
        clientAuthString({ nonce, serverUri, peerKey, serverId }),
      ),
    };
  },

  server_auth(args) {
    const {
      nonce,
      self_uri: selfUri,
      peer_uri: peerUri,
      peer_id: peerId,
    } = args;
    demand({ nonce, uri: selfUri, server_id: peerId });
    demand({ uri: peerUri });
    const keys = keys32(args.seed);
    const text = { nonce, selfUri, selfId: keys.id, peerUri, peerId };
    return {
      server_id: keys.id,
      public_key: keys.publicKey,
      signature: keys.sign(serverAuthString(text)),
    };
  },

  verify_client: (args) => ({
    valid: verifyClient(args.public_key, args.signature, {
      nonce: args.nonce,
      serverUri: args.server_uri,
      peerKey: args.peer_key,
      serverId: args.server_id,
    }),
  }),

  verify_server: (args) => ({
    valid: verifyServer(args.public_key, args.signature, {
      nonce: args.nonce,
      selfUri: args.self_uri,
      selfId: args.self_id,
      peerUri: args.peer_uri,
      peerId: args.peer_id,
    }),
  }),
};

function bytes(hex) {
  if (!/^(?:[0-9a-f]{2})*$/i.test(hex)) throw new Refused("no hex digits");
  return Buffer.from(hex, "hex");
}

function keys32(seed) {
  const raw = bytes(seed);
  if (raw.length !== 32) throw new Refused("a seed has 32 bytes");
  return keyPair(raw);
}

function demand(fields) {
  for (const [kind, text] of Object.entries(fields)) {
    if (typeof text !== "string" || !KINDS[kind](text)) {
      throw new Refused(`no valid ${kind}`);
    }
  }
}

function startClient(name, config) {
  const clock = new Clock();
  let client;
  try {
    client = new Client({
      bootstrap: config.bootstrap ?? [],
      network: config.network,
      seed: bytes(config.seed),
      cache: config.cache ?? [],
      backoff: config.backoff_ms || undefined,
      clock,
    });
  } catch (error) {
    if (error instanceof RangeError) throw new Refused(error.message);
    throw error;
  }
  client.on("status", (data) => emit(name, "status", data));
  client.on("errorCode", (data) => emit(name, "error", data));
  client.on("signal", ({ routeId, peerKey, kind, payload }) => {
    const hex = payload.toString("hex");
    const data = { route_id: routeId, peer_key: peerKey, kind, payload: hex };
    emit(name, "signal", data);
  });
  setImmediate(() => client.start()); // the answer comes first
  const operations = {
    find: async ({ limit }) => ({ peer_keys: await client.find(limit) }),
    lookup: async ({ peer_key: peerKey }) => ({
      route_id: await client.lookup(peerKey),
    }),
    getservers: async ({ limit }) => ({ uris: await client.getServers(limit) }),
    async signal({ route_id: routeId, kind, payload }) {
      await client.signal(routeId, kind, bytes(payload));
      return {};
    },
    async leave() {
      await client.leave();
      return {};
    },
    advance_clock({ seconds }) {
      clock.advance(seconds * 1000);
      return {};
    },
  };
  return { operations, stop: () => client.stop() };
}

const instances = new Map(); // name to { operations, stop }

function start(name, role, config) {
  if (instances.has(name)) throw new Error(`there is an instance ${name}`);
  switch (role) {
    case "frog/codec":
      instances.set(name, { operations: codec, stop() {} });
      return {};
    case "frog/client":
      instances.set(name, startClient(name, config));
      return {};
  }
  throw new Unsupported(`role ${role}`);
}

async function perform({ verb, instance = "", role, op, args = {} }) {
  switch (verb) {
    case "hello":
      return HELLO;
    case "start":
      return start(instance, role, args);
    case "do": {
      const operations = instances.get(instance)?.operations;
      if (!operations) throw new Error(`no instance ${instance}`);
      if (!Object.hasOwn(operations, op)) {
        throw new Unsupported(`operation ${op}`);
      }
      return await operations[op](args);
    }
    case "stop":
      instances.get(instance)?.stop();
      instances.delete(instance);
      return {};
  }
  throw new Unsupported(`verb ${verb}`);
}

async function answer(request) {
  const reply = { id: request.id };
  try {
    reply.result = await perform(request);
  } catch (error) {
    if (error instanceof Refused || error instanceof OperationError) {
      reply.refused = error.message;
    } else if (error instanceof Unsupported) {
      reply.unsupported = error.message;
    } else {
      reply.failed = String(error);
    }
  }
  write(reply);
}

const emit = (instance, event, data) => write({ event, instance, data });
const write = (line) => process.stdout.write(JSON.stringify(line) + "\n");

for await (const line of createInterface({ input: process.stdin })) {
  let request;
  try {
    request = JSON.parse(line);
  } catch {
    console.error("no JSON:", line);
    continue;
  }
  answer(request); // an operation that takes its time holds up no other
}
process.exit();
