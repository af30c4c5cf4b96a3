import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blocksOf } from '../docs/code-blocks.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { mapBench } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const commands = blocksOf('docs/map.md')
  .filter(({ language }) => language === 'sh')
  .flatMap(({ code }) => code.trim().split('\n'))
  .filter((line) => line.startsWith('batchling map'));

/** The words of a command as a shell would see them. */
function wordsOf(command: string): string[] {
  const words = command.replace(/ \|\| true$/, '').match(/"[^"]*"|\S+/g) ?? [];
  return words.slice(2).map((word) => word.replace(/^"(.*)"$/, '$1'));
}

it('every command of docs/map.md works on the files of examples/map', async () => {
  const bench = await mapBench(stage);
  await cp(fileURLToPath(new URL('../../examples/map', import.meta.url)), bench.folder, {
    recursive: true,
  });
  expect(commands.length).toBeGreaterThan(10);
  for (const command of commands) {
    const words = wordsOf(command);
    const leaves = command.includes('--detach');
    if (leaves) stage.simulator.hold();
    // The first command of the page, and a later one, have the same output.
    const { code, stderr } = await bench.map(
      ...words,
      ...(words.includes('rated.jsonl') ? ['--restart'] : []),
    );
    if (leaves) stage.simulator.release();
    expect({ command, code, stderr }).toEqual({ command, code: leaves ? 75 : 0, stderr: '' });
  }
  expect(await bench.lines('rated.jsonl')).toMatchObject([
    { id: '1', rating: expect.any(String) },
    {},
    {},
  ]);
  expect(await bench.read('rated.csv')).toMatch(/^id,product,text,rating\n1,/);
  expect(await bench.lines('fields.jsonl')).toMatchObject([
    { file: 'a.pdf', answer: { seller: expect.any(String) } },
    {},
  ]);
  expect(await bench.lines('vectors.jsonl')).toMatchObject([
    { id: 'c1', vector: expect.any(Array) },
    {},
  ]);
  expect(await bench.lines('both.jsonl')).toMatchObject([
    { one: expect.any(String), two: expect.any(String) },
    {},
    {},
  ]);
  expect(await bench.lines('try.jsonl')).toHaveLength(2);
});
