import { Agent } from 'node:http';
import { readInput } from '../parts/read-input.ts';

/** Locks a global before the package is loaded, and tries everything. */
const { lock, url, options, register } = readInput<{
  lock: 'fetch' | 'abort' | 'agent';
  url: string;
  options: Record<string, unknown>;
  register: boolean;
}>();

const agent = Agent.prototype as unknown as { addRequest: unknown };
const now = () => [globalThis.fetch, AbortController.prototype.abort, agent.addRequest];
const native = now();
if (lock === 'fetch') {
  const locked = { value: globalThis.fetch, writable: false, configurable: false };
  Object.defineProperty(globalThis, 'fetch', locked);
} else {
  Object.freeze(lock === 'abort' ? AbortController.prototype : Agent.prototype);
}

const warnings: string[] = [];
process.on('warning', ({ name, message }) => {
  if (name === 'BatchlingWarning') warnings.push(message);
});

async function sourceOf(send: typeof fetch): Promise<string> {
  const response = await send(url, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' },
    body: '{"model":"gpt-test","messages":[{"role":"user","content":"locked"}]}',
  });
  await response.text();
  return response.headers.get('x-batchling-source') ?? 'plain';
}

async function tryAll() {
  const { batchify, BatchlingError } = await import('../../../../src/index.ts');
  const patched = now();
  let error: unknown;
  try {
    await batchify(() => 'never run', options);
  } catch (thrown) {
    error = thrown;
  }
  const after = now();
  const scope = batchify({ ...options, hooks: false });
  const withoutHooks = await sourceOf(scope.fetch);
  await scope.close();
  return {
    code: BatchlingError.isInstance(error) ? error.code : String(error),
    message: String(error),
    // Of the three: what the import and the scope that could not be opened have left behind.
    left: [1, 2].filter((index) => after[index] !== native[index]),
    importUndone: patched[0] === after[0],
    withoutHooks,
  };
}

if (register) await import('../../../../src/register.ts');
const report = register ? { plain: await sourceOf(fetch) } : await tryAll();
await new Promise((resolve) => setImmediate(resolve));
console.log(JSON.stringify({ ...report, warnings }));
