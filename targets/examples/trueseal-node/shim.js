#!/usr/bin/env node
/** The shim: JSON lines on stdin and stdout, logs on stderr. */
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import * as roles from './shim-roles.js';

const { name, version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url)));
const ROLES = { 'trueseal/codec': roles.codec, 'trueseal/relay': roles.relay, 'trueseal/client': roles.client };

/** @type {Map<string, { do?: Record<string, Function>, stop?: () => Promise<void> }>} */
const instances = new Map();

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function answer({ verb, role = '', op = '', instance = '', args = {} }) {
  if (verb === 'hello') {
    const offered = Object.entries(ROLES).map(([role, { capabilities }]) => [role, capabilities]);
    return { result: { name, version, language: 'JavaScript', protocol: 1, roles: Object.fromEntries(offered) } };
  }
  if (verb === 'start') {
    if (!ROLES[role]) return { unsupported: `no role ${role}` };
    const emit = (event, data) => say({ instance, event, data });
    const { result, ...running } = await ROLES[role].start(args, emit);
    instances.set(instance, running);
    return { result };
  }
  const running = instances.get(instance);
  if (verb === 'stop') {
    instances.delete(instance);
    await running?.stop?.();
    return { result: {} };
  }
  if (verb !== 'do') return { unsupported: `no verb ${verb}` };
  if (!running) return { failed: `no instance ${instance}` };
  if (!Object.hasOwn(running.do, op)) return { unsupported: `no operation ${op}` };
  try {
    return { result: await running.do[op](args) };
  } catch (error) {
    return { refused: error.message || 'refused' };
  }
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  if (!line.trim()) return;
  const request = JSON.parse(line);
  const reply = await answer(request).catch((error) => ({ failed: error.stack ?? String(error) }));
  say({ id: request.id, ...reply });
}).on('close', () => process.exit(0));
