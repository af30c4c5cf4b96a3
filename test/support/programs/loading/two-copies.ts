import { subscribe } from 'node:diagnostics_channel';
import { pathToFileURL } from 'node:url';
import { readInput } from '../parts/read-input.ts';

type Library = typeof import('../../../../src/index.ts');

/** Loads the package twice and says who captured what. */
const { copies, url, options } = readInput<{
  copies: [string, string];
  url: string;
  options: Record<string, unknown>;
}>();
const native = globalThis.fetch;
const one = (await import(pathToFileURL(copies[0]).href)) as Library;
const wrapped = globalThis.fetch;
const two = (await import(pathToFileURL(copies[1]).href)) as Library;
const wrappedOnce = globalThis.fetch === wrapped && wrapped !== native;

let captured = 0;
subscribe('batchling:call:captured', () => {
  captured += 1;
});

async function ask(content: string): Promise<{ text: string; source: string | null }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content }] }),
  });
  return { text: await response.text(), source: response.headers.get('x-batchling-source') };
}

async function measure<T>(work: () => Promise<T>): Promise<{ result: T; captured: number }> {
  const before = captured;
  const result = await work();
  return { result, captured: captured - before };
}

const outer = one.batchify(options);
const steps = {
  first: await measure(() => one.batchify(() => ask('same'), options)),
  second: await measure(() => two.batchify(() => ask('same'), options)),
  nested: await measure(() => outer.run(() => two.batchify(() => ask('nested'), options))),
  realtime: await measure(() => outer.run(() => two.realtime(() => ask('realtime')))),
  outside: await measure(() => ask('outside')),
};
await outer.close();
const error = (() => {
  try {
    two.batchify({ window: -1 });
  } catch (thrown) {
    return {
      own: thrown instanceof one.BatchlingError,
      marked: one.BatchlingError.isInstance(thrown),
    };
  }
})();
console.log(
  JSON.stringify({
    different: one.batchify !== two.batchify,
    wrappedOnce,
    steps,
    outerCaptured: outer.stats.captured,
    error,
  }),
);
