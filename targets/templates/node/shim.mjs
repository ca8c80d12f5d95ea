// A Touchstone shim for @ROLE@ in JavaScript: JSON Lines on stdin and stdout, four verbs.
// stdout is the protocol: log with console.error. Fill in start, operations and stop.
// One shim may serve several roles: name them all in hello.
import { createInterface } from 'node:readline'

const ROLE = '@ROLE@'

// Throw these for the answers that are no result.
class Refused extends Error {} // your implementation rejected the input: often just what a case wants
class Unsupported extends Error {} // you do not offer this

// One function per operation; OPERATIONS.md lists them with their arguments and results.
const operations = {}

// The harness names the instance: events carry that name.
function start (instance, role, config) {
  if (role !== ROLE) throw new Unsupported(`role ${role}`)
  return {} // a server answers { address: 'ws://127.0.0.1:1234' }
}

async function perform (request) {
  switch (request.verb) {
    case 'hello':
      return { name: '@NAME@', version: '0.1.0', language: 'javascript', protocol: 1, roles: { [ROLE]: [] } }
    case 'start':
      return start(request.instance, request.role, request.args ?? {})
    case 'do':
      if (!Object.hasOwn(operations, request.op)) throw new Unsupported(`operation ${request.op}`)
      return await operations[request.op](request.args ?? {}, request.instance)
    case 'stop':
      return {}
  }
}

// Tell the harness that something happened at an instance.
export function emit (instance, event, data) {
  console.log(JSON.stringify({ event, instance, data }))
}

async function answer (request) {
  const reply = { id: request.id }
  try {
    reply.result = await perform(request)
  } catch (error) {
    if (error instanceof Refused) reply.refused = error.message
    else if (error instanceof Unsupported) reply.unsupported = error.message
    else reply.failed = String(error)
  }
  console.log(JSON.stringify(reply))
}

// Answers may come in any order: an operation that takes its time holds up no other.
for await (const line of createInterface({ input: process.stdin })) answer(JSON.parse(line))
