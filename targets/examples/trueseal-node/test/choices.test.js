import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { decodeBody } from '../src/frame.js';
import { generateKeyPair } from '../src/keys.js';
import { Line } from '../src/line.js';
import { Relay } from '../src/relay.js';
import { Session } from '../src/session.js';

const relayKey = generateKeyPair();
let folder, relay;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trueseal-'));
  relay = await Relay.start({ keyPair: relayKey, stateDir: folder });
});
after(async () => {
  await relay.stop();
  await rm(folder, { recursive: true });
});

async function dial(port, pattern, keyPair) {
  const line = new Line(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
  const session = await Session.establish(line, pattern, { initiator: true, static: keyPair, remoteStatic: relayKey.public });
  const frames = session.frames();
  const next = async () => {
    const { value, done } = await frames.next();
    return done ? null : decodeBody(value);
  };
  return { session, next };
}

async function push(recipient, ...texts) {
  const { session, next } = await dial(relay.pushPort, 'NK');
  for (const text of texts) session.send({ type: 'push', recipient, envelope: Buffer.from(text) });
  for (const _ of texts) assert.equal((await next()).type, 'ack');
  session.close();
}

test('the newest blob comes first, and the newest session is the one that is served', async () => {
  const device = generateKeyPair();
  await push(device.public, 'a', 'b', 'c');
  const older = await dial(relay.receivePort, 'XX', device);
  const texts = [await older.next(), await older.next(), await older.next()].map(({ envelope }) => String(envelope));
  assert.deepEqual(texts, ['c', 'b', 'a']);

  const newer = await dial(relay.receivePort, 'XX', device);
  for (const text of 'cba') assert.equal(String((await newer.next()).envelope), text);
  await push(device.public, 'd');
  const { blobId, envelope } = await newer.next();
  assert.equal(String(envelope), 'd');
  newer.session.close();
  assert.equal((await older.next()).blobId, blobId); // the older one is served again, under the same id
  older.session.close();
});

test('an Error ends the session, and what stands behind it is not stored', async () => {
  const device = generateKeyPair();
  const { session, next } = await dial(relay.pushPort, 'NK');
  session.send({ type: 'push', recipient: device.public, envelope: Buffer.from('before') });
  session.send({ type: 'push', recipient: device.public, envelope: Buffer.alloc(1_048_577) });
  session.send({ type: 'push', recipient: device.public, envelope: Buffer.from('behind') });
  assert.deepEqual([await next(), await next(), await next()], [{ type: 'ack' }, { type: 'error' }, null]);
  session.close();
  const receiver = await dial(relay.receivePort, 'XX', device);
  assert.equal(String((await receiver.next()).envelope), 'before');
  receiver.session.send({ type: 'heartbeat' });
  assert.equal((await receiver.next()).type, 'heartbeat');
  receiver.session.close();
});
