// A peer of SBP over WebSocket: it dials or listens, and runs one session per connection. It knows nothing of the shim.
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'
import {
  BadFrame, Code, ID_SIZE, MAX_FRAME, MAX_HANDSHAKE, Refused, ReservedOp, decode, encode, handshakeJson, idOf, isOurs
} from './codec.mjs'

const PATH = '/sbp'
const CAPS = ['example:fragments', 'x']
const METADATA = { 'example:build': { number: 1, flags: [null] } }
const DETAILS = Buffer.from('ff00c0', 'hex') // of an Error: opaque, so deliberately no text (SBP-ERR-05)

const GREET_AFTER_MS = 15
const ACK_AFTER_MS = 10
const CLOSE_AFTER_MS = 100 // after the other side's Close: it ends the transport, we only if it does not (SBP-SES-09)
const GIVE_UP_AFTER_MS = 1500 // on the closing handshake of the WebSocket
const FRAGMENT_FROM = 60 // bytes

// Codes for the end of a WebSocket: SBP gives them no meaning (SBP-CMP-02).
const Ending = { NORMAL: 1000, GOING_AWAY: 1001, REJECTED: 4000, CLOSED_BY_OTHER: 4999 }

export class Peer {
  /** `tell(event, data)` hears what happens: established, message, pong, acked, error, closed. */
  constructor (config, tell) {
    this.config = config
    this.tell = tell
    this.limit = config.limit ?? MAX_FRAME
    this.greeting = {
      kind: 'handshake',
      peerId: config.peerId || `urn:uuid:${randomUUID()}`, // one for all connections (SBP-HSP-04)
      caps: config.caps ?? CAPS,
      metadata: config.metadata ?? METADATA
    }
    this.sessions = new Map() // by name, until the socket is closed
    this.count = 0
  }

  /** Returns the address of a peer that accepts. */
  async start () {
    handshakeJson(this.greeting) // refuses what may not be announced, before anybody is connected
    // The socket takes more than the limit, so that what is too long gets an Error and not just an end (SBP-LIM-03).
    const options = { maxPayload: this.limit + 4 * MAX_FRAME, perMessageDeflate: true }
    return this.config.side === 'connect' ? this.dial(options) : this.listen(options)
  }

  dial (options) {
    const session = this.newSession(new WebSocket(this.config.url, options), 'out')
    session.socket.on('open', () => session.greet())
  }

  async listen (options) {
    this.server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: PATH, ...options })
    this.server.on('connection', socket => this.newSession(socket, 'in').greetSoon())
    await once(this.server, 'listening')
    return `ws://127.0.0.1:${this.server.address().port}${PATH}`
  }

  newSession (socket, direction) {
    const name = `${direction}/№${++this.count}`
    const session = new Session(this, socket, name)
    this.sessions.set(name, session)
    socket.on('close', () => this.sessions.delete(name))
    return session
  }

  session (name) {
    const session = this.sessions.get(name)
    if (!session) throw new Refused(`there is no session ${name}`)
    if (session.over) throw new Refused(`session ${name} is over`)
    return session
  }

  stop () {
    for (const session of this.sessions.values()) session.end('stopping', Ending.GOING_AWAY)
    this.server?.close()
  }
}

class Session {
  constructor (peer, socket, name) {
    this.peer = peer
    this.socket = socket
    this.name = name
    this.greeted = false // our Handshake is out
    this.established = false // theirs is in
    this.over = false // nothing is handled any more
    this.toldClosed = false
    this.pinged = false // by our host
    this.unacknowledged = new Set() // ids of what our host sent
    this.acksDue = []
    socket.on('message', (wire, isBinary) => this.receive(wire, isBinary))
    socket.on('close', () => this.lost())
    socket.on('error', error => console.error(`${name}: ${error.message}`)) // a close follows
  }

  // ---- what the host asks for

  /** Returns the id of the Message. Without a time of the host's it gets the present one, as every frame does. */
  send (subject, data, ts) {
    const id = this.put({ kind: 'message', subject, data, ts })
    this.unacknowledged.add(id.toString('hex'))
    return id
  }

  ping () {
    this.pinged = true
    return this.put({ kind: 'ping' })
  }

  close (reason) {
    this.end(reason ?? '', Ending.NORMAL)
  }

  // ---- what goes out

  /** Send a frame under an id of its own (SBP-FID-09), unless it is an Error that names another; returns the id. */
  put (frame) {
    const id = frame.id ?? randomBytes(ID_SIZE)
    const wire = encode({ ...frame, id, ts: frame.ts ?? BigInt(Date.now()) })
    if (wire.length > MAX_FRAME) throw new Refused(`a frame of ${wire.length} bytes is too long`)
    if (this.socket.readyState === WebSocket.OPEN) this.transmit(wire)
    return id
  }

  /** One frame is one WebSocket message; in how many fragments it travels is the transport's business. */
  transmit (wire) {
    if (wire.length <= FRAGMENT_FROM) return this.socket.send(wire)
    const middle = wire.length >> 1
    this.socket.send(wire.subarray(0, middle), { fin: false })
    this.socket.send(wire.subarray(middle), { fin: true })
  }

  greet () {
    if (this.greeted) return
    this.greeted = true
    clearTimeout(this.greetTimer)
    this.put(this.peer.greeting)
  }

  /** Nobody waits for the other's Handshake (SBP-SES-02); but one that comes at once and does not fit need get none. */
  greetSoon () {
    this.greetTimer = setTimeout(() => this.greet(), GREET_AFTER_MS)
  }

  acknowledgeSoon (id) {
    this.acksDue.push(id)
    this.ackTimer ??= setTimeout(() => this.acknowledge(), ACK_AFTER_MS)
  }

  /** Newest first: each Ack speaks for one frame only, so their order says nothing (SBP-SEM-02). */
  acknowledge () {
    clearTimeout(this.ackTimer)
    this.ackTimer = undefined
    while (this.acksDue.length) this.put({ kind: 'ack', ack: this.acksDue.pop() })
  }

  // ---- how it ends

  /** Reject what came: an Error under the id of the failing frame (SBP-ERR-06), then the end. */
  reject ({ code, message, id }) {
    // The own Handshake comes first (SBP-HSP-09); to a mismatch the Error alone will do (SBP-HS-02).
    if (code !== Code.UNSUPPORTED_VERSION) this.greet()
    this.put({ kind: 'error', id, code, message, details: DETAILS })
    this.end(this.greeted ? `giving up: ${message}` : undefined, Ending.REJECTED + code % 1000)
  }

  /** End it from here, with a Close if there is a reason to give. */
  end (reason, ending) {
    if (this.over) return
    this.acknowledge()
    this.finish()
    if (reason !== undefined) this.put({ kind: 'close', reason })
    this.hangUp(ending)
    this.tellClosed()
  }

  /** The socket is closed, whoever did it. */
  lost () {
    this.finish()
    this.tellClosed()
  }

  finish () {
    this.over = true
    clearTimeout(this.greetTimer)
    clearTimeout(this.ackTimer)
  }

  hangUp (ending) {
    this.socket.close(ending)
    setTimeout(() => this.socket.terminate(), GIVE_UP_AFTER_MS).unref()
  }

  /** Once, and only to a host that has heard of the session. */
  tellClosed (reason) {
    if (this.toldClosed || !this.established) return
    this.toldClosed = true
    this.tell('closed', { reason })
  }

  tell (event, data) {
    this.peer.tell(event, { session: this.name, ...data })
  }

  // ---- what comes in

  receive (wire, isBinary) {
    if (this.over) return
    try {
      this.handle(this.read(wire, isBinary))
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error
      if (error instanceof ReservedOp && this.established) this.complain(error)
      else this.reject(error)
    }
  }

  read (wire, isBinary) {
    const { limit } = this.peer
    if (!isBinary) throw new BadFrame('text is not SBP', undefined, Code.INVALID_FRAME) // SBP-SES-01
    if (wire.length > limit) throw new BadFrame(`more than ${limit} bytes`, idOf(wire))
    return decode(wire)
  }

  /** An Error that does not end the session; before there is one, the same frame is a violation as any other is. */
  complain ({ message, id }) {
    this.put({ kind: 'error', id, code: Code.INVALID_FRAME, message })
  }

  handle (frame) {
    if (frame.kind === 'handshake') return this.meet(frame)
    if (!this.established) throw new BadFrame(`a ${frame.kind} before the Handshake`, frame.id) // SBP-HS-03
    switch (frame.kind) {
      case 'ping': return this.put({ kind: 'pong' })
      case 'pong': return this.heardPong()
      case 'close': return this.closedByOther(frame)
      case 'message': return this.deliver(frame)
      case 'ack': return this.acknowledged(frame)
      case 'error': return this.tell('error', { code: frame.code, message: frame.message, details: frame.details })
    }
  }

  meet (frame) {
    if (this.established) return // a second Handshake changes nothing (SBP-SES-05)
    if (!isOurs(frame)) throw new BadFrame('another protocol or version', frame.id, Code.UNSUPPORTED_VERSION)
    if (frame.size > MAX_HANDSHAKE) throw new BadFrame(`a Handshake of ${frame.size} bytes`, frame.id)
    this.greet()
    this.established = true
    this.tell('established', { peerId: frame.peerId, caps: frame.caps, metadata: frame.metadata })
    this.put({ kind: 'ping' }) // our own: is the other side alive, and how far away?
  }

  /** A Pong does not say which Ping it answers: the host hears of them as soon as it has sent one itself. */
  heardPong () {
    if (this.pinged) this.tell('pong')
  }

  closedByOther ({ reason }) {
    this.acknowledge()
    this.finish()
    this.tellClosed(reason)
    setTimeout(() => this.hangUp(Ending.CLOSED_BY_OTHER), CLOSE_AFTER_MS)
  }

  deliver ({ id, subject, data, ts }) {
    this.tell('message', { subject, data, ts })
    if (this.peer.config.receipt) this.acknowledgeSoon(id) // SBP-SES-08: only if told to
  }

  /** An Ack of what was never sent, or a second one, is nobody's business (SBP-SES-07). */
  acknowledged ({ ack }) {
    if (this.unacknowledged.delete(ack.toString('hex'))) this.tell('acked', { id: ack })
  }
}
