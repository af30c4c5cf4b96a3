import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { BatchifyOptions } from '../../../src/index.ts';
import { openaiDescription, startSimulator } from '../../../src/simulator/index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/own-servers.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'batchling-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const places: Record<string, string> = {
  batchling: join(root, 'src/index.ts'),
  'batchling/batchers': join(root, 'src/batchers/index.ts'),
};
for (const [, name, code] of page.matchAll(/```ts\n\/\/ file: (\S+)\n([\s\S]*?)```/g)) {
  const found = (code as string).replaceAll(
    / from '([^']+)'/g,
    (_, from: string) => ` from '${places[from] ?? from}'`,
  );
  writeFileSync(join(folder, name as string), found);
}

const { askAll } = (await import(join(folder, 'house-program.ts'))) as {
  askAll(
    base: string,
    prompts: readonly string[],
    options?: BatchifyOptions,
  ): Promise<(string | null | undefined)[]>;
};

async function openHouse() {
  const house = { ...openaiDescription, name: 'house', barePaths: [], windows: ['1h', '24h'] };
  const simulator = await startSimulator({
    openaiLike: [house],
    speed: { validating: 0, running: 0, finalizing: 0, cancelling: 0 },
  });
  onTestFinished(() => simulator.close());
  return simulator;
}

const impatient = { store: ':memory:', window: '10ms', poll: '5ms' } as const;

describe('the batcher of docs/own-servers.md', () => {
  it('answers calls through batches of its own window', async () => {
    const simulator = await openHouse();
    const answers = await askAll(simulator.baseUrl('house'), ['one', 'two'], impatient);
    expect(answers).toEqual([
      expect.stringContaining('answer to "one"'),
      expect.stringContaining('answer to "two"'),
    ]);
    expect(simulator.batches()).toMatchObject([{ provider: 'house', requests: 2 }]);
    const create = simulator.requests.find(
      ({ method, path }) => method === 'POST' && path.endsWith('/batches'),
    );
    expect(create).toBeDefined();
  });

  it('refuses a window that it does not offer, and says which it has', async () => {
    const simulator = await openHouse();
    const asked = askAll(simulator.baseUrl('house'), ['one'], {
      ...impatient,
      completionWindow: '7d',
    });
    await expect(asked).rejects.toThrow('not one that house offers (1h, 24h)');
    expect(simulator.batches()).toEqual([]);
  });
});
