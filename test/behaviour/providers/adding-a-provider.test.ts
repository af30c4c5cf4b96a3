import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { batcherConformance } from '../../../src/batchers/conformance/conformance-suite.test-helper.ts';
import type { BatcherClass } from '../../../src/batchers/index.ts';
import { startSimulator } from '../../../src/simulator/index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/adding-a-provider.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'batchling-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The files that the page shows, written as if the reader had followed it. */
const files = new Map(
  [...page.matchAll(/```ts\n\/\/ file: (\S+)\n([\s\S]*?)```/g)].map(([, path, code]) => [
    path as string,
    code as string,
  ]),
);
for (const [path, code] of files) {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(
    place,
    code.replaceAll(/ from '([^']+)'/g, (_, name) => ` from '${find(path, name)}'`),
  );
}

/** Files that the page does not show are those of the repository. */
function find(path: string, name: string): string {
  if (name === 'batchling') return join(root, 'src/index.ts');
  if (name === 'batchling/batchers') return join(root, 'src/batchers/index.ts');
  if (!name.startsWith('.')) return name;
  const meant = join(dirname(path), name);
  return files.has(meant) ? join(folder, meant) : resolve(root, meant);
}

it('the page shows the files of a provider', () => {
  expect([...files.keys()]).toEqual([
    'src/batchers/nimbus/nimbus-info.ts',
    'src/batchers/nimbus/nimbus-batcher.ts',
    'src/simulator/nimbus/description.ts',
    'src/batchers/nimbus/nimbus-conformance.test.ts',
    'src/batchers/nimbus/nimbus-batcher.test.ts',
    'test/behaviour/nimbus.test.ts',
    'own-batcher.ts',
    'own-program.ts',
  ]);
});

describe('the provider of the page', async () => {
  await import(join(folder, 'src/batchers/nimbus/nimbus-conformance.test.ts'));
  await import(join(folder, 'src/batchers/nimbus/nimbus-batcher.test.ts'));
  await import(join(folder, 'test/behaviour/nimbus.test.ts'));
});

describe('the own batcher of the page', async () => {
  const { OwnBatcher } = (await import(join(folder, 'own-batcher.ts'))) as {
    OwnBatcher: BatcherClass;
  };
  const { askAll } = (await import(join(folder, 'own-program.ts'))) as {
    askAll(base: string, prompts: readonly string[]): Promise<number[]>;
  };

  batcherConformance({
    batcher: new OwnBatcher(),
    simulated: 'anthropic',
    path: '/messages',
    body: (prompt) => ({
      model: 'own-1',
      max_tokens: 64,
      messages: [{ role: 'user', content: prompt }],
    }),
    requests: { create: '/v1/messages/batches', results: /\/results$/ },
    skip: { 'that fails as a whole says so': 'what it has taken does not fail as a whole' },
  });

  it('answers calls', async () => {
    const simulator = await startSimulator({ speed: { validating: 0, running: 0, finalizing: 0 } });
    const base = `${simulator.baseUrl('anthropic')}/v1`;
    expect(await askAll(base, ['one', 'two', '[[status 400]]'])).toEqual([200, 200, 400]);
    expect(simulator.batches()).toHaveLength(1);
    await simulator.close();
  });
});
