import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client, MAX_ENVELOPE, Relay, generateKeyPair } from '../src/index.js';

const folders = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function folder() {
  folders.push(await mkdtemp(join(tmpdir(), 'trueseal-')));
  return folders.at(-1);
}

async function device(relay, keyPair, relayKey, stateDir) {
  const { pushPort, receivePort } = relay;
  return Client.start({ keyPair, relayKey, stateDir: stateDir ?? (await folder()), pushPort, receivePort, retryMs: 50 });
}

test('from device to device, also of a mebibyte', async () => {
  const [relayKey, a, b] = [generateKeyPair(), generateKeyPair(), generateKeyPair()];
  const relay = await Relay.start({ keyPair: relayKey, stateDir: await folder() });
  const [alice, bob] = [await device(relay, a, relayKey.public), await device(relay, b, relayKey.public)];
  for (const envelope of [Buffer.from('hello'), Buffer.alloc(0), Buffer.alloc(MAX_ENVELOPE, 'x')]) {
    const [arrived, acked] = [once(bob, 'received'), once(alice, 'pushed')];
    const id = await alice.push(b.public, envelope);
    assert.deepEqual(await acked, [id]);
    assert.ok((await arrived)[0].equals(envelope));
  }
  await assert.rejects(alice.push(b.public, Buffer.alloc(MAX_ENVELOPE + 1)), RangeError);
  await Promise.all([alice.stop(), bob.stop(), relay.stop()]);
});

test('a relay with a stricter limit rejects, and forgets nothing over a restart', async () => {
  const [relayKey, a, b] = [generateKeyPair(), generateKeyPair(), generateKeyPair()];
  const stateDir = await folder();
  const first = await Relay.start({ keyPair: relayKey, stateDir, limit: 10 });
  const alice = await device(first, a, relayKey.public);
  const [rejected, pushed] = [once(alice, 'rejected'), once(alice, 'pushed')];
  const large = await alice.push(b.public, Buffer.alloc(11));
  const small = await alice.push(b.public, Buffer.alloc(10));
  assert.deepEqual([...(await rejected), ...(await pushed)], [large, small]);
  await Promise.all([alice.stop(), first.stop()]);

  const second = await Relay.start({ keyPair: relayKey, stateDir });
  const bob = await device(second, b, relayKey.public);
  const [envelope] = await once(bob, 'received');
  assert.equal(envelope.length, 10);
  assert.equal((await bob.received()).length, 1);
  await Promise.all([bob.stop(), second.stop()]);
});
