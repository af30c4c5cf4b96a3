import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allBlocks, type CodeBlock, root } from './code-blocks.ts';

/** Pages whose blocks have a test of their own, and the examples of TSDoc, which are type-checked. */
const elsewhere = new Set(['docs/simulator.md', 'docs/getting-started.md', 'docs/api.md']);

const blocks = allBlocks(['ts', 'js']).filter(
  ({ page, file, notRun, pieceOf }) => !elsewhere.has(page) && !(file ?? notRun ?? pieceOf),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchling-docs-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Windows of seconds are for people; everything else runs as it stands. */
function quick({ code }: CodeBlock): string {
  return code.replaceAll(/(window|maxWindow): '\d+[sm]'/gi, "$1: '20ms'");
}

it('every block of README and docs that can run runs', async () => {
  const paths = await Promise.all(
    blocks.map(async (block) => {
      const path = join(folder, `${block.place.replaceAll(/\W/g, '-')}.${block.language}`);
      await writeFile(path, `${quick(block)}\nexport {};\n`);
      return path;
    }),
  );
  const { BATCHLING_RUN: _, ...inherited } = process.env;
  const given = ['--import', 'tsx', 'test/docs/run-shown.ts', ...paths];
  const child = spawn(process.execPath, given, {
    cwd: root,
    env: inherited,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect({ stdout, stderr, code: child.exitCode }).toEqual({ stdout: '', stderr: '', code: 0 });
  expect(blocks.length).toBeGreaterThan(10);
});
