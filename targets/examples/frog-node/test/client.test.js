import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import * as frog from "../src/index.js";

const SERVER_ID = "4KVETTPBZR80KG1GTZ55CZ1KS9";
const NONCE = "8QAK1JY7Z5T2N9VVK36ZP3JH2M";
const RID = "2N9VVK36ZP3JH2M8QAK1JY7Z5T";
const OTHER = "N:7XQ0J5M8V4K2R9N3T6W1CZEHYA";

// A server that plays along up to OK JOIN, and then does what it is told.
async function listen(t, script) {
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    handleProtocols: (offered) => [...offered][0],
  });
  await once(server, "listening");
  const uri = `ws://127.0.0.1:${server.address().port}/`;
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  server.on("connection", (socket) => {
    const say = (text) => socket.send(Buffer.from(text, "latin1"));
    let peerKey;
    socket.on("message", (data) => {
      const command = frog.decode("to_server", data);
      if (script?.(command, say, socket)) return;
      switch (command.command) {
        case "HELLO":
          return say(`HELLO FROG/1 ${SERVER_ID}\n`);
        case "JOIN":
          peerKey = command.peer_key;
          return say(`CHAL ${NONCE}\n`);
        case "AUTH": {
          const { public_key: key, signature } = command;
          const context = { nonce: NONCE, serverUri: uri, peerKey };
          const all = { ...context, serverId: SERVER_ID };
          assert.ok(frog.verifyClient(key, signature, all));
          return say("OK JOIN\n");
        }
        case "GETSERVERS":
          return say(`TRY ${command.cid} 0\n`);
        case "LEAVE":
          say("OK LEAVE\n");
          return socket.close();
      }
    });
  });
  return uri;
}

function connect(t, bootstrap, more = {}) {
  const seed = Buffer.alloc(32, 7);
  const options = { bootstrap, network: "N", seed, backoff: 20, ...more };
  const client = new frog.Client(options);
  t.after(() => client.stop());
  client.start();
  return client;
}

test("registers, asks, signals and leaves", async (t) => {
  const waiting = [];
  const uri = await listen(t, ({ command, ...members }, say) => {
    if (command === "LOOKUP") {
      waiting.push(members);
      if (waiting.length < 2) return true;
      // Backwards: the second one is answered first.
      const [first, second] = waiting;
      say(`FOUND ${second.cid} ${second.peer_key} ${RID}\n`);
      say(`ERR ${first.cid} PEER_NOT_FOUND\n`);
      return true;
    }
    if (command === "SIGNAL") {
      const { route_id: id, kind, payload } = members;
      say(
        `SIGNAL-FROM ${id} ${OTHER} ${kind} 3\n${payload.toString("latin1")}`,
      );
      return true;
    }
    return false;
  });
  const client = connect(t, [uri]);
  const [status] = await once(client, "status");
  assert.deepEqual(status, { registered: true, uri });

  await assert.rejects(client.lookup(client.peerKey), frog.OperationError);
  await assert.rejects(client.find(8), frog.OperationError);
  await assert.rejects(client.signal(RID, "ICE", Buffer.alloc(0)));
  const [lost, found] = await Promise.allSettled([
    client.lookup(`N:${RID}`),
    client.lookup(OTHER),
  ]);
  assert.equal(lost.reason.code, "PEER_NOT_FOUND");
  assert.equal(found.value, RID);
  const signal = once(client, "signal");
  await client.signal(RID, "OFFER", Buffer.from([0, 10, 255]));
  assert.deepEqual((await signal)[0].payload, Buffer.from([0, 10, 255]));

  const gone = once(client, "status");
  await client.leave();
  assert.deepEqual((await gone)[0], { registered: false });
  await assert.rejects(client.find(1), frog.OperationError);
});

test("follows a redirect, with the URI that it dialled in its signature", async (t) => {
  const good = await listen(t);
  const busy = await listen(t, ({ command }, say, socket) => {
    if (command !== "HELLO") return true;
    say(`HELLO FROG/1 ${SERVER_ID}\n`);
    say(`TRY - 2 ${good} ws://127.0.0.1:080/\n`);
    socket.close();
    return true;
  });
  const client = connect(t, [busy, busy]);
  const [status] = await once(client, "status");
  assert.equal(status.uri, good);
  assert.deepEqual(client.servers, [busy, good]);
});

test("a text message ends the connection, and it comes back on its clock", async (t) => {
  let dials = 0;
  const uri = await listen(t, ({ command }, say, socket) => {
    if (command === "HELLO") dials++;
    if (command !== "GETSERVERS" || dials > 1) return false;
    socket.send("OK LEAVE\n");
    return true;
  });
  const clock = new frog.Clock();
  const client = connect(t, [uri], { clock, backoff: 60_000 });
  await once(client, "status");
  const [lost] = await once(client, "status");
  assert.equal(lost.registered, false);
  const back = once(client, "status");
  clock.advance(90_000);
  assert.equal((await back)[0].registered, true);
  assert.equal(dials, 2);
});
