// Prints the modules that run for each captured call, as V8 has counted them, for docs/architecture.md:
//   npx tsx scripts/walk-of-a-call.ts
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = fileURLToPath(new URL('../src', import.meta.url));

/** The way of a call. What its steps use (HTTP, wires, ledgers, prices) is not a step. */
const steps = ['hooks', 'scope', 'orchestrator'];

if (process.send === undefined) await printWalk();
else await simulate();

/** In a process of its own: a server that runs beside the calls would be counted with them. */
async function simulate(): Promise<void> {
  const { startSimulator } = await import('../src/simulator/index.ts');
  const simulator = await startSimulator({ speed: { validating: 0, running: 0, finalizing: 0 } });
  process.send?.(simulator.baseUrl('openai'));
}

async function printWalk(): Promise<void> {
  const simulator = fork(fileURLToPath(import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'batchling-walk-'));
  try {
    const [base] = (await once(simulator, 'message')) as [string];
    const walk = await walkOfCalls(base, join(folder, 'ledger.db'));
    for (const module of walk) console.log(module);
  } finally {
    simulator.kill();
    rmSync(folder, { recursive: true });
  }
}

async function walkOfCalls(base: string, store: string): Promise<string[]> {
  const { batchify } = await import('../src/index.ts');
  const scope = batchify({
    store,
    window: '50ms',
    poll: '20ms',
    display: 'none',
    hosts: { [base]: 'openai' },
  });
  const ask = async (content: string) => {
    const response = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-walk' },
      body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content }] }),
    });
    await response.text();
  };
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const countsOf = async (calls: number) => {
    await session.post('Profiler.takePreciseCoverage');
    await scope.run(() =>
      Promise.all(Array.from({ length: calls }, (_, index) => ask(`${calls} ${index}`))),
    );
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return countsByFunction(result);
  };
  // What is loaded, opened or decided once is not on the way of each call.
  await countsOf(2);
  const [few, many] = [await countsOf(1), await countsOf(101)];
  session.disconnect();
  await scope.close();
  return modulesOf([...many].filter(([name, count]) => count - (few.get(name) ?? 0) >= 100));
}

/** How often each function ran, by `module function position`. */
function countsByFunction(scripts: readonly Profiler.ScriptCoverage[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { url, functions } of scripts) {
    if (!url.startsWith(pathToFileURL(source).href)) continue;
    const module = relative(source, fileURLToPath(url));
    for (const { functionName, ranges } of functions) {
      const [range] = ranges;
      if (range) counts.set(`${module} ${functionName} ${range.startOffset}`, range.count);
    }
  }
  return counts;
}

function modulesOf(functions: readonly (readonly [string, number])[]): string[] {
  const modules = new Set(functions.map(([name]) => name.slice(0, name.indexOf(' '))));
  return [...modules]
    .filter((module) => steps.some((step) => module.startsWith(`${step}/`)))
    .sort();
}
