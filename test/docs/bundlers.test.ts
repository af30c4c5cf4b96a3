import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatRequest } from '../support/ask.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { blocksOf } from './code-blocks.ts';
import { type NewcomerProject, openNewcomerProject } from './newcomer-project.ts';
import type { Told } from './newcomer-shell.ts';

const program = `
import { batchify } from 'batchling';
const { url, request, options } = JSON.parse(process.env.INPUT!);
void batchify(() => fetch(url, request), options).then(async (response) => {
  console.log(JSON.stringify([response.status, await response.text()]));
});
`;

/** The lines of the page, by their format. */
const recipes = new Map(
  blocksOf('docs/bundlers.md')
    .flatMap(({ code }) => code.trim().split('\n'))
    .map((line) => [/--format=(\w+)/.exec(line)?.[1], line]),
);

let stage: Stage;
let opened: NewcomerProject;
beforeAll(async () => {
  stage = await openStage();
  opened = await openNewcomerProject();
  await writeFile(join(opened.project, 'program.ts'), program);
  await told('npm install batchling');
});
afterAll(async () => {
  await opened?.close();
  await stage.close();
});

async function told(line: string, more: Record<string, string> = {}): Promise<Told> {
  const result = await opened.shell.type(line.replace(/^npx /, 'node_modules/.bin/'), more);
  expect(result).toMatchObject({ code: 0 });
  return result;
}

/** Bundles the program by such a line, runs the bundle, and returns status and body of its call. */
async function answerOf(recipe: string): Promise<[status: number, body: string]> {
  const { stderr } = await told(recipe);
  // Such as one of the bundler's about code of the command line, which belongs in no program.
  expect(stderr).not.toMatch(/warning/i);
  const [, bundle = ''] = /--outfile=(\S+)/.exec(recipe) ?? [];
  const options = stage.options({ display: 'none' });
  const input = { url: chatUrl(stage), request: chatRequest('bundled'), options };
  const { stdout } = await told(`node ${bundle}`, { INPUT: JSON.stringify(input) });
  return JSON.parse(stdout) as [number, string];
}

describe.each(['esm', 'cjs'])('the installed package in a program bundled as %s', (format) => {
  const recipe = recipes.get(format) ?? '';

  it('works by the recipe of docs/bundlers.md', async () => {
    const [status, body] = await answerOf(recipe);
    expect(body).toContain('answer to');
    expect(status).toBe(200);
  });

  it('says which packages to leave outside where it does not work without them', async () => {
    const [status, body] = await answerOf(recipe.replaceAll(/ --external:\S+/g, ''));
    // Where SQLite is built in nothing is missing, as undici fits into CommonJS.
    const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
    expect(status === 200).toBe(hasSqlite && format === 'cjs');
    if (status !== 200)
      expect(body).toContain('mark @photostructure/sqlite and undici as external');
  });
});
