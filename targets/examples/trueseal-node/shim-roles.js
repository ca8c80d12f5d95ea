/** What the shim offers in each role: `capabilities`, and `start`, which gives a `result`, operations and `stop`. */
import { Client } from './src/client.js';
import { FrameReader, cut, decodeBody, encodeFrame } from './src/frame.js';
import { Handshake, keyPairFrom } from './src/noise.js';
import { Relay } from './src/relay.js';

function bytes(hex) {
  if (typeof hex !== 'string' || !/^([0-9a-f]{2})*$/i.test(hex)) throw new TypeError('not bytes in hex');
  return Buffer.from(hex, 'hex');
}

const optional = (hex, make = (value) => value) => (hex == null ? undefined : make(bytes(hex)));

function frameFrom({ type, recipient, envelope, blob_id: blobId }) {
  switch (type) {
    case 'push':
      return { type, recipient: bytes(recipient), envelope: bytes(envelope) };
    case 'deliver':
      return { type, blobId: BigInt(blobId), envelope: bytes(envelope) };
    case 'deliver_ack':
      return { type, blobId: BigInt(blobId) };
    default:
      return { type };
  }
}

function frameTo({ type, recipient, envelope, blobId }) {
  const frame = { type };
  if (recipient) frame.recipient = recipient.toString('hex');
  if (blobId !== undefined) frame.blob_id = String(blobId);
  if (envelope) frame.envelope = envelope.toString('hex');
  return frame;
}

function decode(messages) {
  const reader = new FrameReader();
  const frames = messages.flatMap((message) => [...reader.read(bytes(message))].map(decodeBody));
  if (reader.partial) throw new Error('the last frame is not complete');
  return frames.map(frameTo);
}

function noise(args) {
  const handshake = new Handshake(args.pattern, {
    initiator: args.side === 'initiator',
    static: optional(args.static, keyPairFrom),
    ephemeral: optional(args.ephemeral, keyPairFrom),
    remoteStatic: optional(args.remote_static),
    prologue: optional(args.prologue),
  });
  let transport;
  const results = args.script.map(([verb, hex]) => {
    const input = bytes(hex);
    if (!handshake.done) return (verb === 'write' ? handshake.write(input) : handshake.read(input)).toString('hex');
    transport ??= handshake.split();
    return (verb === 'write' ? transport.sender.encrypt(input) : transport.receiver.decrypt(input)).toString('hex');
  });
  return { results, hash: handshake.hash.toString('hex') };
}

export const codec = {
  capabilities: ['noise', 'large_frames'],
  start: () => ({
    result: {},
    do: {
      encode: ({ frame }) => ({ messages: cut(encodeFrame(frameFrom(frame))).map((part) => part.toString('hex')) }),
      decode: ({ messages }) => ({ frames: decode(messages) }),
      noise,
    },
  }),
};

export const relay = {
  capabilities: ['restart', 'kill', 'limit', 'large_frames', 'store_failure'],
  async start({ private_key: key, state_dir: stateDir, limit }) {
    const relay = await Relay.start({ keyPair: keyPairFrom(bytes(key)), stateDir, limit: limit ?? undefined });
    return {
      result: { addresses: { push: `127.0.0.1:${relay.pushPort}`, receive: `127.0.0.1:${relay.receivePort}` } },
      do: {
        async break_store() {
          await relay.breakStore();
          return {};
        },
      },
      stop: () => relay.stop(),
    };
  },
};

export const client = {
  capabilities: ['restart', 'kill', 'retry_ms', 'large_frames', 'heartbeat'],
  async start(args, emit) {
    const client = await Client.start({
      keyPair: keyPairFrom(bytes(args.private_key)),
      relayKey: bytes(args.relay_key),
      stateDir: args.state_dir,
      pushPort: args.push_port,
      receivePort: args.receive_port,
      retryMs: args.retry_ms ?? undefined,
    });
    client.on('received', (envelope) => emit('received', { envelope: envelope.toString('hex') }));
    client.on('pushed', (id) => emit('pushed', { id }));
    client.on('rejected', (id) => emit('rejected', { id }));
    return {
      result: {},
      do: {
        push: async ({ recipient, envelope }) => ({ id: await client.push(bytes(recipient), bytes(envelope)) }),
        received: async () => ({ envelopes: (await client.received()).map((envelope) => envelope.toString('hex')) }),
        heartbeat() {
          if (!client.heartbeat()) throw new Error('no Receive Session');
          return {};
        },
      },
      stop: () => client.stop(),
    };
  },
};
