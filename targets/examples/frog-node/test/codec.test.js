import assert from "node:assert/strict";
import { test } from "node:test";
import * as frog from "../src/index.js";

const SEED = Buffer.from([...Array(32).keys()]);
const RID = "2N9VVK36ZP3JH2M8QAK1JY7Z5T";
const { isUri, isCid } = frog.syntax;
const refused = (direction, text) => {
  try {
    frog.decode(direction, Buffer.from(text, "latin1"));
  } catch (error) {
    assert.ok(error instanceof frog.WireError, String(error));
    return `${error.code} ${error.id}`;
  }
  return assert.fail(`taken: ${text}`);
};

test("the vectors of section 50", () => {
  const keys = frog.keyPair(SEED);
  assert.equal(
    keys.publicKey,
    "0EGGFFZKSR8BW7BGVMCEEJY0K5KY9NHGKEJGTQRXVJ3684JN66W0",
  );
  assert.equal(keys.id, "AS3NN9TMCD3MR0M5VXEVYAYAPW");
  const context = {
    nonce: "8QAK1JY7Z5T2N9VVK36ZP3JH2M",
    serverUri: "wss://rv.example.net/",
    peerKey: `BLUTELLA:${keys.id}`,
    serverId: "4KVETTPBZR80KG1GTZ55CZ1KS9",
  };
  const signature = keys.sign(frog.clientAuthString(context));
  assert.equal(
    signature,
    "HAMFPA9XA6MWMRRS07F69D8NJN1F7FGP0X2V0MAJ62J9HE8YTE64KYTKWDTSS9HZSTATECCTQGJ8XTC9J66BS0NA03TXZGJBZT7TA30",
  );
  assert.ok(frog.verifyClient(keys.publicKey, signature, context));
  const other = { ...context, serverUri: "wss://rv2.example.net/" };
  assert.ok(!frog.verifyClient(keys.publicKey, signature, other));
  // The same bytes with a pad bit set.
  const padded = signature.slice(0, -1) + "1";
  assert.ok(!frog.verifyClient(keys.publicKey, padded, context));
});

test("canonical URIs", () => {
  for (const uri of [
    "wss://rv.example.net/",
    "ws://192.0.2.10:9000/",
    "wss://[2001:db8::1]:9443/",
    "wss://[::ffff:192.0.2.1]/",
    "ws://a.example:443/x%2Fy/...",
    "wss://xn--bcher-kva.example/",
    `wss://a.example/${"a".repeat(184)}`,
  ]) {
    assert.ok(isUri(uri), uri);
  }
  for (const uri of [
    "wss://rv.example.net",
    "wss://rv.example.net:443/",
    "wss://rv.example.net:0443/",
    "wss://rv.example.net/?",
    "wss://rv.example.net./",
    "wss://u@rv.example.net/",
    "wss://rv.example.net/%2E",
    "wss://rv.example.net/%2f",
    "wss://[2001:db8::0:1]/",
    "wss://[1:0:0:2:0:0:0:3]/",
    "wss://[::ffff:c000:201]/",
    "wss://[fe80::1%25eth0]/",
    "wss://xn--zzzzzz99999.example/",
    "ws://256.0.0.1/",
    `wss://a.example/${"a".repeat(185)}`,
  ]) {
    assert.ok(!isUri(uri), uri);
  }
});

test("what is rejected, and the error that it gets", () => {
  assert.equal(refused("to_server", "HELLO FROG/1"), "BAD_REQUEST -");
  assert.equal(refused("to_server", "HELLO FROG/1\r\n"), "BAD_REQUEST -");
  assert.equal(refused("to_server", "constructor\n"), "BAD_REQUEST -");
  assert.equal(refused("to_server", "FIND F1 8\n"), "BAD_REQUEST F1");
  assert.equal(refused("to_server", "FIND F1 4294967299\n"), "BAD_REQUEST F1");
  assert.equal(refused("to_server", "FIND - 3\n"), "BAD_REQUEST -");
  assert.equal(refused("to_server", "FIND F1 3\nx"), "BAD_REQUEST F1");
  assert.equal(refused("to_server", "FIND F1  3\n"), "BAD_REQUEST -");
  assert.equal(
    refused("to_server", `SIGNAL ${RID} ICE 65537\n`),
    `PAYLOAD_TOO_LARGE ${RID}`,
  );
  assert.equal(
    refused("to_server", `SIGNAL ${RID} ICE 2\nabc`),
    `BAD_REQUEST ${RID}`,
  );
  assert.equal(
    refused("sister", `@LOOKUP ${RID} ${RID} A:${RID} B:${RID} 5\n`),
    `BAD_REQUEST ${RID}`,
  );
  refused("to_client", "TRY - 1\n");
  refused("to_client", "PEERS - 0\n");
  assert.ok(isCid("--") && !isCid("-"));
});

test("a TRY loses its URIs that are not canonical", () => {
  const text = "TRY A1 2 wss://a.example/ wss://b.example\n";
  const command = frog.decode("to_client", Buffer.from(text));
  assert.deepEqual(command.uris, ["wss://a.example/"]);
});

test("what is encoded is decoded again", () => {
  const payload = Buffer.alloc(65536, "\n");
  const peer_key = `N:${RID}`;
  for (const [direction, command] of [
    ["to_server", { command: "HELLO" }],
    ["to_client", { command: "HELLO", server_id: RID }],
    ["to_server", { command: "SIGNAL", route_id: RID, kind: "ICE", payload }],
    ["to_client", { command: "PEERS", cid: "F", peer_keys: [peer_key] }],
    ["sister", { command: "@SERVERS", fcid: "G", servers: [[RID, "ws://a/"]] }],
  ]) {
    assert.deepEqual(frog.decode(direction, frog.encode(command)), command);
  }
  const extra = { command: "LEAVE", payload: Buffer.alloc(1) };
  assert.throws(() => frog.encode(extra), frog.WireError);
});
