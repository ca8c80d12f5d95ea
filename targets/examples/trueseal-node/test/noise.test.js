import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Handshake, keyPairFrom } from '../src/noise.js';

const { vectors } = JSON.parse(readFileSync(new URL('./noise-vectors.json', import.meta.url)));
const bytes = (hex) => hex && Buffer.from(hex, 'hex');
const pair = (hex) => hex && keyPairFrom(bytes(hex));

for (const vector of vectors) {
  test(`${vector.protocol_name}: known answers`, () => {
    const pattern = vector.protocol_name.slice(6, 8);
    const initiator = new Handshake(pattern, {
      initiator: true,
      static: pair(vector.init_static),
      ephemeral: pair(vector.init_ephemeral),
      remoteStatic: bytes(vector.init_remote_static),
      prologue: bytes(vector.init_prologue),
    });
    const responder = new Handshake(pattern, {
      initiator: false,
      static: pair(vector.resp_static),
      ephemeral: pair(vector.resp_ephemeral),
      prologue: bytes(vector.resp_prologue),
    });
    const sides = [initiator, responder];
    let ciphers;
    vector.messages.forEach(({ payload, ciphertext }, turn) => {
      const [writer, reader] = [turn % 2, (turn + 1) % 2];
      const handshaking = !initiator.done;
      if (!handshaking) ciphers ??= sides.map((side) => side.split());
      const sent = handshaking ? sides[writer].write(bytes(payload)) : ciphers[writer].sender.encrypt(bytes(payload));
      assert.equal(sent.toString('hex'), ciphertext);
      const read = handshaking ? sides[reader].read(sent) : ciphers[reader].receiver.decrypt(sent);
      assert.equal(read.toString('hex'), payload);
    });
    for (const side of sides) assert.equal(side.hash.toString('hex'), vector.handshake_hash);
  });
}

test('a changed byte is refused', () => {
  const key = pair('11'.repeat(32));
  const initiator = new Handshake('NK', { initiator: true, remoteStatic: key.public });
  const responder = new Handshake('NK', { initiator: false, static: key });
  const message = initiator.write();
  assert.equal(message.length, 48);
  message[47] ^= 1;
  assert.throws(() => responder.read(message));
});
