// The shim: what Touchstone asks, in JSON lines on stdin, put to codec.mjs and peer.mjs; answers and events on stdout.
// stdout is the protocol: log with console.error.
//
// Codecs answer in the main thread. Each peer has a thread of its own, which runs this file too: the main thread passes
// its requests on, and its answers and events back. So a peer that is busy, or dies, does not touch the others.
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { Refused, decode, encode } from './codec.mjs'
import { Peer } from './peer.mjs'

const HELLO = {
  name: 'sbp-node',
  version: '1.0.0',
  language: 'javascript',
  protocol: 1,
  roles: {
    'sbp/codec': [],
    'sbp/peer': ['accept', 'connect', 'host', 'receipt', 'limit', 'hints']
  }
}

const LINGER_MS = 300 // a peer that was stopped still says goodbye

/** Thrown for what is not offered: no failure. */
class Unsupported extends Error {}

/** The one answer to a request, whatever becomes of it. */
async function answer (request, perform) {
  const { id } = request
  try {
    return { id, result: await perform(request) }
  } catch (error) {
    if (error instanceof Refused) return { id, refused: error.message }
    if (error instanceof Unsupported) return { id, unsupported: error.message }
    return { id, failed: String(error.stack) }
  }
}

/** The function of that name in a table of operations. */
function operation (table, name) {
  if (!Object.hasOwn(table, name)) throw new Unsupported(`operation ${name}`)
  return table[name]
}

// ---- values: bytes travel as hex, a timestamp as decimal text; members that are undefined are left out by JSON

function bytes (hex) {
  if (hex === undefined || hex === null) return undefined
  const raw = Buffer.from(hex, 'hex') // ends at the first digit that is none
  if (raw.length * 2 !== hex.length) throw new Refused(`${JSON.stringify(hex)} is not hex`)
  return raw
}

function hex (bytes) {
  return bytes?.toString('hex')
}

function time (text) {
  if (text === undefined || text === null) return undefined
  if (!/^-?[0-9]+$/.test(text)) throw new Refused(`${JSON.stringify(text)} is no timestamp`)
  return BigInt(text)
}

/** A frame, or the data of an event, as the harness spells it. */
function spelled ({ id, ts, ack, data, details, peerId, ...rest }) {
  return {
    ...rest,
    peer_id: peerId,
    id: hex(id),
    ts: ts?.toString(),
    ack: hex(ack),
    data: hex(data),
    details: hex(details)
  }
}

// ---- sbp/codec

const codecOperations = {
  encode ({ frame }) {
    const { id, ts, ack, data, details, peer_id: peerId, ...rest } = frame
    const raw = { id: bytes(id), ts: time(ts), ack: bytes(ack), data: bytes(data), details: bytes(details) }
    return { wire: hex(encode({ ...rest, ...raw, peerId })) }
  },

  decode ({ wire }) {
    const { size, ...frame } = decode(bytes(wire))
    return { frame: spelled(frame) }
  }
}

/** It has no state: `start` and `stop` are just said yes to. */
class CodecInstance {
  async ask (request) {
    write(await answer(request, ({ verb, op, args }) => verb === 'do' ? operation(codecOperations, op)(args) : {}))
  }
}

// ---- sbp/peer, in the main thread

class PeerInstance {
  constructor (name) {
    this.name = name
    this.owed = new Set() // ids of requests without an answer
    this.worker = new Worker(new URL(import.meta.url))
    this.worker.on('message', message => this.pass(message))
    this.worker.on('error', error => console.error(`${name}: ${error.stack}`)) // an exit follows
    this.worker.on('exit', () => this.gone())
  }

  ask (request) {
    this.owed.add(request.id)
    this.worker.postMessage(request)
  }

  pass (message) {
    this.owed.delete(message.id)
    write(message.event ? { ...message, instance: this.name } : message)
  }

  /** An answer is owed also by one that died. */
  gone () {
    if (instances.get(this.name) === this) instances.delete(this.name)
    for (const id of this.owed) write({ id, failed: `${this.name} has died, see stderr` })
  }
}

// ---- sbp/peer, in its own thread

function newPeer ({ peer_id: peerId, ...config }) {
  return new Peer({ ...config, peerId }, (event, data) => parentPort.postMessage({ event, data: spelled(data) }))
}

const peerOperations = {
  send: (session, { subject, data, ts }) => ({ id: hex(session.send(subject, bytes(data), time(ts))) }),
  ping: session => ({ id: hex(session.ping()) }),
  close (session, { reason }) {
    session.close(reason ?? undefined)
    return {}
  }
}

function servePeer () {
  let peer

  async function perform ({ verb, op, args = {} }) {
    switch (verb) {
      case 'start':
        peer = newPeer(args)
        return { address: await peer.start() }
      case 'do':
        return operation(peerOperations, op)(peer.session(args.session), args)
      case 'stop':
        peer.stop()
        return {}
    }
  }

  parentPort.on('message', async request => {
    const reply = await answer(request, perform)
    parentPort.postMessage(reply)
    const done = request.verb === 'stop' || (request.verb === 'start' && !reply.result)
    if (done) setTimeout(() => process.exit(), LINGER_MS) // of this thread
  })
}

// ---- the main thread

const ROLES = { 'sbp/codec': CodecInstance, 'sbp/peer': PeerInstance }
const instances = new Map() // by the name that the harness gave

function handle (request) {
  const { id, verb, role, instance: name } = request
  if (verb === 'hello') return write({ id, result: HELLO })
  if (verb === 'start') {
    if (!Object.hasOwn(ROLES, role)) return write({ id, unsupported: `role ${role}` })
    instances.set(name, new ROLES[role](name))
  }
  const instance = instances.get(name)
  if (verb === 'stop') instances.delete(name)
  if (instance) instance.ask(request)
  else write(verb === 'stop' ? { id, result: {} } : { id, failed: `there is no ${name}` })
}

function write (message) {
  process.stdout.write(JSON.stringify(message) + '\n')
}

/** Not by node:readline, which in newer versions ends a line at U+2028 too: inside a JSON string that is data. */
async function * linesOf (stream) {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    yield * lines
  }
}

if (isMainThread) {
  for await (const line of linesOf(process.stdin)) handle(JSON.parse(line))
  process.exit() // the threads too
} else {
  servePeer()
}
