// The wire format of SBP: frames to bytes and back. No I/O; what a session makes of a frame is in peer.mjs.
//
// A frame is an object with `kind`, `id` (16 bytes), `ts` (BigInt, or absent) and the members of its kind:
//   handshake: peerId, caps, metadata    close: reason    message: subject, data    ack: ack
//   error: code, message, details        ping, pong: none

export const MAX_FRAME = 1 << 20 // SBP-LIM-01
export const MAX_HANDSHAKE = 8192 // SBP-LIM-04
export const MAX_SUBJECT = 256 // SBP-LIM-05
export const ID_SIZE = 16

export const Code = { PROTOCOL_VIOLATION: 1000, UNSUPPORTED_VERSION: 1001, INVALID_FRAME: 1002 }

const Kind = { CONTROL: 0, MESSAGE: 1, ACK: 2, ERROR: 3 }
const Op = { HANDSHAKE: 0, PING: 1, PONG: 2, CLOSE: 3 }

const PROTOCOL = 'sideband'
const VERSION = '1'
const HEADER_SIZE = 2 + ID_SIZE
const TS_SIZE = 8
const TS_FLAG = 1
const NOTHING = Buffer.alloc(0)

/** What the host asked for cannot be done, and nothing was sent. */
export class Refused extends Error {}

/** Bytes that are no frame: with the code for the Error that rejects them, and their id where it is known. */
export class BadFrame extends Refused {
  constructor (text, id, code = Code.PROTOCOL_VIOLATION) {
    super(text)
    this.id = id
    this.code = code
  }
}

/** A Control op that version 1 does not know: nothing to handle, but no reason to part either (SBP-CTRL-04). */
export class ReservedOp extends BadFrame {}

/** The id in the first bytes of what may be no frame otherwise. */
export function idOf (wire) {
  return wire.length < HEADER_SIZE ? undefined : Buffer.from(wire.subarray(2, HEADER_SIZE))
}

/** Whether a Handshake is one of this protocol and version. */
export function isOurs ({ protocol, version }) {
  return protocol === PROTOCOL && version === VERSION
}

// ---- frames to bytes

export function encode (frame) {
  const [kind, body] = bodyOf(frame)
  const ts = timestamp(frame.ts)
  const flags = ts.length ? TS_FLAG : 0
  return Buffer.concat([Buffer.of(kind, flags), rawId(frame.id), ts, body])
}

function bodyOf (frame) {
  switch (frame.kind) {
    case 'handshake': return control(Op.HANDSHAKE, handshakeJson(frame))
    case 'ping': return control(Op.PING)
    case 'pong': return control(Op.PONG)
    case 'close': return control(Op.CLOSE, utf8(frame.reason ?? '', 'the reason'))
    case 'message': return [Kind.MESSAGE, messageBody(frame)]
    case 'ack': return [Kind.ACK, rawId(frame.ack)]
    case 'error': return [Kind.ERROR, errorBody(frame)]
    default: throw new Refused(`there is no kind ${frame.kind}`)
  }
}

function control (op, data = NOTHING) {
  return [Kind.CONTROL, Buffer.concat([Buffer.of(op), data])]
}

function messageBody ({ subject, data }) {
  const name = utf8(subject, 'the subject')
  demand(name.length > 0, 'the subject is empty') // SBP-MSG-05
  demand(name.length <= MAX_SUBJECT, `the subject has ${name.length} bytes`)
  return Buffer.concat([u32(name.length), name, data ?? NOTHING])
}

function errorBody ({ code, message, details }) {
  demand(Number.isInteger(code) && code >= 0 && code <= 0xffff, 'the code does not fit into 16 bits') // SBP-ERR-02
  const text = utf8(message ?? '', 'the message')
  const number = Buffer.alloc(2)
  number.writeUInt16LE(code)
  return Buffer.concat([number, u32(text.length), text, details ?? NOTHING])
}

/** White space and the order of members are free in JSON; too long with spaces, it is written without. */
export function handshakeJson ({ peerId, caps, metadata }) {
  utf8(peerId, 'peerId')
  const announced = { metadata: namespaced(metadata), peerId, caps: texts(caps), version: VERSION, protocol: PROTOCOL }
  const spaced = Buffer.from(JSON.stringify(announced, null, 1))
  return spaced.length <= MAX_HANDSHAKE ? spaced : Buffer.from(JSON.stringify(announced))
}

function texts (caps) {
  if (isAbsent(caps)) return undefined
  demand(Array.isArray(caps), 'caps is no list')
  for (const cap of caps) utf8(cap, 'a cap')
  return caps
}

function namespaced (metadata) {
  if (isAbsent(metadata)) return undefined
  demand(isObject(metadata), 'metadata is no object')
  for (const key of Object.keys(metadata)) {
    demand(key.indexOf(':') > 0, `the metadata key ${JSON.stringify(key)} has no namespace`) // SBP-HSP-07
  }
  return metadata
}

/** Eight bytes, or none: zero is a time like any other (SBP-TS-05). */
function timestamp (ts) {
  if (isAbsent(ts)) return NOTHING
  demand(BigInt.asIntN(64, ts) === ts, 'the timestamp does not fit into 64 bits') // SBP-TS-03
  const bytes = Buffer.alloc(TS_SIZE)
  bytes.writeBigInt64LE(ts)
  return bytes
}

function rawId (id) {
  demand(Buffer.isBuffer(id) && id.length === ID_SIZE, `an id has ${ID_SIZE} bytes`)
  return id
}

function utf8 (text, what) {
  demand(typeof text === 'string', `${what} is not text`)
  demand(text.isWellFormed(), `${what} holds half a character, which has no UTF-8`)
  return Buffer.from(text)
}

function u32 (number) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  return bytes
}

function demand (condition, text) {
  if (!condition) throw new Refused(text)
}

// ---- bytes to frames

// Strict, and a byte order mark is data (SBP-SES-13): `ignoreBOM` means that it is not taken away.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decode (wire) {
  const id = idOf(wire)
  expect(id, `${wire.length} bytes are too few for a frame`, id)
  const [kind, flags] = wire
  expect((flags & ~TS_FLAG) === 0, 'reserved flag bits are set', id, Code.INVALID_FRAME) // SBP-FLAGS-06
  const hasTs = flags === TS_FLAG
  expect(!hasTs || wire.length >= HEADER_SIZE + TS_SIZE, 'the timestamp is cut', id) // SBP-TS-04
  const ts = hasTs ? wire.readBigInt64LE(HEADER_SIZE) : undefined
  const body = wire.subarray(hasTs ? HEADER_SIZE + TS_SIZE : HEADER_SIZE)
  return { id, ts, ...readBody(kind, body, id) }
}

function readBody (kind, body, id) {
  switch (kind) {
    case Kind.CONTROL: return readControl(body, id)
    case Kind.MESSAGE: return readMessage(body, id)
    case Kind.ACK: return readAck(body, id)
    case Kind.ERROR: return readError(body, id)
    default: throw new BadFrame(`unknown kind ${kind}`, id)
  }
}

function readControl (body, id) {
  expect(body.length > 0, 'there is no control op', id)
  const op = body[0]
  const data = body.subarray(1)
  switch (op) {
    case Op.HANDSHAKE: return { kind: 'handshake', ...readHandshake(data, id) }
    case Op.PING: return bare('ping', data, id)
    case Op.PONG: return bare('pong', data, id)
    case Op.CLOSE: return { kind: 'close', reason: data.length ? textOf(data, 'the reason', id) : undefined }
    default: throw new ReservedOp(`control op ${op} is reserved`, id)
  }
}

function bare (kind, data, id) {
  expect(data.length === 0, `${data.length} bytes behind a ${kind}`, id) // SBP-PING-02
  return { kind }
}

function readMessage (body, id) {
  expect(body.length >= 4, 'there is no subject length', id)
  const end = 4 + body.readUInt32LE(0)
  expect(end <= body.length, 'the subject is longer than the frame', id)
  expect(end > 4, 'the subject is empty', id)
  expect(end - 4 <= MAX_SUBJECT, `the subject has ${end - 4} bytes`, id) // SBP-LIM-06
  return { kind: 'message', subject: textOf(body.subarray(4, end), 'the subject', id), data: body.subarray(end) }
}

function readAck (body, id) {
  expect(body.length === ID_SIZE, `an Ack of ${body.length} bytes`, id) // SBP-ACK-02
  return { kind: 'ack', ack: Buffer.from(body) }
}

function readError (body, id) {
  expect(body.length >= 6, 'the Error is cut', id)
  const end = 6 + body.readUInt32LE(2)
  expect(end <= body.length, 'the message of the Error is longer than the frame', id)
  const message = textOf(body.subarray(6, end), 'the message of the Error', id)
  return { kind: 'error', code: body.readUInt16LE(0), message, details: body.subarray(end) }
}

/** Members that are not known are left alone (SBP-EXT-01). `size` is for the session, which has a limit. */
function readHandshake (data, id) {
  const { protocol, version, peerId, caps, metadata } = jsonObject(textOf(data, 'the Handshake', id), id)
  expect(isText(protocol), 'protocol is not a string', id, Code.UNSUPPORTED_VERSION)
  expect(isText(version), 'version is not a string', id, Code.UNSUPPORTED_VERSION)
  // Of another protocol the rest is not ours to judge: that it is another is what the Error has to say (SBP-HSP-10).
  const code = isOurs({ protocol, version }) ? Code.PROTOCOL_VIOLATION : Code.UNSUPPORTED_VERSION
  expect(isText(peerId), 'peerId is not a string', id, code)
  expect(caps === undefined || (Array.isArray(caps) && caps.every(isText)), 'caps is no list of strings', id, code)
  expect(metadata === undefined || isObject(metadata), 'metadata is no object', id, code)
  return { protocol, version, peerId, caps, metadata, size: data.length }
}

function jsonObject (text, id) {
  let value
  try {
    value = JSON.parse(text)
  } catch {
    throw new BadFrame('the Handshake is no JSON', id)
  }
  expect(isObject(value), 'the Handshake is no JSON object', id)
  return value
}

function textOf (bytes, what, id) {
  try {
    return strict.decode(bytes)
  } catch {
    throw new BadFrame(`${what} is no UTF-8`, id)
  }
}

function expect (condition, text, id, code) {
  if (!condition) throw new BadFrame(text, id, code)
}

// ---- both ways

function isAbsent (value) {
  return value === undefined || value === null
}

function isObject (value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText (value) {
  return typeof value === 'string' && value.isWellFormed()
}
