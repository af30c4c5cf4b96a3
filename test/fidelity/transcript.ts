import { bodies } from './steps/bodies.ts';
import { exchanges } from './steps/exchanges.ts';
import { failures } from './steps/failures.ts';
import { http2Ends } from './steps/http2-ends.ts';
import { http2Sessions } from './steps/http2-sessions.ts';
import { lookalikes } from './steps/lookalikes.ts';
import { transports } from './steps/transports.ts';

/**
 * Prints what clients see of every step, as JSON.
 *
 * - absent: nothing of ours is loaded.
 * - outside: the hooks are in place, and no scope is open.
 * - inside: within a scope that wants none of these requests.
 * - let-out: within one that wants all of them, looks at each, and lets it out after all.
 */
export type Mode = 'absent' | 'outside' | 'inside' | 'let-out';

const mode = process.argv[2] as Mode;
const steps = [
  ...exchanges,
  ...bodies,
  ...failures,
  ...lookalikes,
  ...transports,
  ...http2Sessions,
  ...http2Ends,
];

async function runAll(): Promise<Record<string, unknown>> {
  const transcript: Record<string, unknown> = {};
  for (const step of steps) {
    if (mode !== 'let-out' || !step.interactive) transcript[step.name] = await step.run();
  }
  return transcript;
}

async function runHooked(): Promise<Record<string, unknown>> {
  const { batchify } = await import('../../src/index.ts');
  const { hookNodeHttp, isNodeHttpHooked } = await import('../../src/hooks/node-http/node-http.ts');
  const { hookHttp2, isHttp2Hooked } = await import('../../src/hooks/http2/http2.ts');
  const { inside, letOut, testScope } = await import('../support/hook-scope.ts');
  hookNodeHttp();
  hookHttp2();
  if (!isNodeHttpHooked() || !isHttp2Hooked()) throw new Error('There is nothing to compare');
  if (mode === 'outside') return runAll();
  if (mode === 'inside') return batchify(runAll, { store: ':memory:', bypass: 'error' });
  const scope = testScope(letOut);
  const transcript = await inside(scope, runAll);
  return { ...transcript, held: scope.requests.length };
}

console.log(JSON.stringify(mode === 'absent' ? await runAll() : await runHooked()));
