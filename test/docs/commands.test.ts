import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { blocksOf, pages, root } from './code-blocks.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Command lines of a page: lines of `sh` blocks, and what stands after a `$` in blocks of output. */
function linesOf(page: string): string[] {
  return blocksOf(page).flatMap(({ language, code }) => {
    const lines = code.replaceAll('\\\n', ' ').split('\n');
    if (language === 'sh') return lines;
    return lines.flatMap((line) => /^\$ (.*)/.exec(line)?.[1] ?? []);
  });
}

/** The calls of one line, without comments, variables and what a shell does with them. */
function callsOf(line: string): string[][] {
  return line
    .replace(/(^|\s)#.*/, '')
    .split(/&&|\|\||;|\||\$\(|\)/)
    .map((call) => call.replace(/\s\d?>.*/, '').match(/'[^']*'|"[^"]*"|[^\s"']+/g) ?? [])
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
    .map(([first = '', ...rest]) => (first === 'npx' ? rest : [first, ...rest]));
}

const calls = pages.flatMap((page) => {
  return linesOf(page).flatMap((line) => callsOf(line).map((words) => ({ page, words })));
});

/** What the command line says about a call, which is parsed and not made. */
async function complaint([name, ...given]: string[]): Promise<string | undefined> {
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) return `there is no command ${name}`;
  const { define, prepare } = await entry.load();
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const command = program.enablePositionalOptions().command(entry.name);
  define(command);
  command.action(() => undefined);
  try {
    await program.parseAsync([entry.name, ...(prepare?.(given) ?? given)], { from: 'user' });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

it('every batchling command of README and docs is one that the command line takes', async () => {
  const ours = calls.filter(({ words: [first] }) => first === 'batchling');
  const problems = [];
  for (const { page, words } of ours) {
    const [, ...given] = words;
    if (given.length === 0 || given[0]?.startsWith('-') || given[0] === '<command>') continue;
    const problem = await complaint(given);
    if (problem !== undefined) problems.push(`${page}: ${words.join(' ')}: ${problem}`);
  }
  expect(problems).toEqual([]);
  expect(ours.length).toBeGreaterThan(20);
});

it('every npm script of README and docs exists', () => {
  const unknown = calls.filter(({ words: [npm, run, script = ''] }) => {
    return npm === 'npm' && run === 'run' && !(script in scripts);
  });
  expect(unknown).toEqual([]);
});
