import { hasSubscribers } from 'node:diagnostics_channel';
import { ok, startPeer } from '../peer.ts';
import type { Probe } from './probe.ts';

/** Warnings that the process gets while something runs. */
async function warningsOf(run: (url: string) => Promise<unknown>): Promise<unknown> {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => void warnings.push(name);
  process.on('warning', onWarning);
  const peer = await startPeer((socket, text) => text.endsWith('}') && socket.end(ok('{}')));
  await run(`http://127.0.0.1:${peer.port}`);
  await peer.close();
  // Node tells of a warning one turn later.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  return warnings.length === 0 ? 'no warning' : warnings;
}

export const surroundings: Probe[] = [
  {
    name: 'what can be listed on `globalThis`',
    run: async () => {
      const names = Reflect.ownKeys(globalThis).filter((name) =>
        Object.prototype.propertyIsEnumerable.call(globalThis, name),
      );
      return names.map(String);
    },
  },
  {
    name: 'who listens to the channels of undici and `node:http`',
    differs:
      'batchling hears of clients that bring their own way to the network, while a scope is open',
    run: async () =>
      ['undici:request:create', 'http.client.request.start'].map((name) => hasSubscribers(name)),
  },
  {
    name: 'the answer to a survey, with a `model` and an `input`',
    run: () =>
      warningsOf((url) => {
        const body = JSON.stringify({ model: 'Model T', input: 'a fine car' });
        const headers = { 'content-type': 'application/json' };
        return fetch(`${url}/survey/responses`, { method: 'POST', headers, body });
      }),
  },
  {
    name: 'the names and lengths of the functions that batchling wraps',
    run: async () => {
      const { Agent } = await import('node:http');
      const { addRequest } = Agent.prototype as unknown as { addRequest: () => void };
      const { abort } = AbortController.prototype;
      return [fetch, abort, addRequest].map(({ name, length }) => `${name}/${length}`);
    },
  },
];
