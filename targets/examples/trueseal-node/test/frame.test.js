import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameReader, MAX_ENVELOPE, MAX_PLAINTEXT, Malformed, cut, decodeBody, encodeFrame } from '../src/frame.js';

const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const hi = Buffer.from('hi');
const GOLDEN = [
  [{ type: 'push', recipient: key, envelope: hi }, `0100000022${key.toString('hex')}6869`],
  [{ type: 'deliver', blobId: 42n, envelope: hi }, '020000000a000000000000002a6869'],
  [{ type: 'heartbeat' }, '0300000000'],
  [{ type: 'ack' }, '0400000000'],
  [{ type: 'error' }, '0500000000'],
  [{ type: 'deliver_ack', blobId: 0x0102030405060708n }, '06000000080102030405060708'],
];

const decode = (...plaintexts) => {
  const reader = new FrameReader();
  return plaintexts.flatMap((plaintext) => [...reader.read(plaintext)].map(decodeBody));
};

test('golden frames, both ways', () => {
  for (const [frame, hex] of GOLDEN) {
    assert.equal(encodeFrame(frame).toString('hex'), hex);
    assert.deepEqual(decode(Buffer.from(hex, 'hex')), [frame]);
  }
});

test('what is malformed', () => {
  for (const hex of ['', '03', '03000000', '0000000000', '0700000000', 'ff00000000', '060000000801', '01ffffffff00', '0100000001aa']) {
    assert.throws(() => decode(Buffer.from(hex, 'hex')), Malformed, hex);
  }
});

test('a large frame is cut unevenly, and put together again', () => {
  const frame = { type: 'push', recipient: key, envelope: Buffer.alloc(MAX_ENVELOPE, 7) };
  const pieces = cut(encodeFrame(frame));
  assert.equal(pieces[0].length, 5);
  assert.ok(pieces.every((piece) => piece.length <= MAX_PLAINTEXT));
  assert.ok(pieces.at(-1).length > 0);
  assert.deepEqual(decode(...pieces), [frame]);
});

test('a frame that fits is whole in one plaintext', () => {
  const bytes = encodeFrame({ type: 'push', recipient: key, envelope: Buffer.alloc(65_482) });
  assert.equal(cut(bytes).length, 1);
  assert.throws(() => decode(bytes.subarray(0, -1), bytes.subarray(-1)), Malformed);
});
