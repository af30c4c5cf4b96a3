import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BatchifyOptions } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/money.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'batchling-docs-'));

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => {
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
});

it('the program of docs/money.md tells the price of a function without running it for real', async () => {
  const [, name, code] = /```ts\n\/\/ file: (\S+)\n([\s\S]*?)```/.exec(page) ?? [];
  const path = join(folder, name as string);
  const entry = join(root, 'src/index.ts');
  writeFileSync(path, (code as string).replace("'batchling'", `'${entry}'`));
  const { priceFirst } = (await import(path)) as {
    priceFirst(main: () => Promise<unknown>, options: BatchifyOptions): Promise<number>;
  };
  const main = () => ask(stage.openai(), 'how much?', 'gpt-4o-mini');
  expect(await priceFirst(main, stage.options({ display: 'none' }))).toBeGreaterThan(0);
  expect(await priceFirst(async () => 'nothing', stage.options())).toBe(0);
  expect(stage.simulator.requests).toEqual([]);
});
