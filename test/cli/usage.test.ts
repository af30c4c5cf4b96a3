import { Command } from 'commander';
import { expect, it } from 'vitest';
import { version } from '../../src/base/version.ts';
import { commands } from '../../src/cli/commands.ts';
import { optionFlags } from '../../src/options/flags.ts';
import { runCli } from '../support/run-cli.ts';

it.each([['--help'], []])('shows all commands for: batchling %s', async (...given) => {
  const { code, stdout, stderr } = await runCli(given.filter((word) => word !== undefined));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const { name, summary } of commands) {
    expect(stdout.replace(/\s+/g, ' ')).toContain(` ${name} ${summary} `);
  }
});

it.each(commands.map(({ name, load }) => ({ name, load })))(
  'explains $name, with examples',
  async ({ name, load }) => {
    const command = new Command(name);
    let text = '';
    command.configureOutput({
      writeOut: (part) => {
        text += part;
      },
      getOutHelpWidth: () => 80,
    });
    (await load()).define(command);
    command.outputHelp();
    expect(text).toMatch(/\nExamples?:\n {2}\$ /);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  },
);

it('explains every option that can be written as text', async () => {
  const { code, stdout } = await runCli(['help', 'run']);
  expect(code).toBe(0);
  for (const { name, isSwitch } of optionFlags) {
    expect(stdout).toContain(isSwitch ? name.slice(2) : `${name} <value>`);
  }
  expect(stdout).toContain('--dry-run[=deep]');
  expect(stdout).toContain('--[no-]cache');
});

it('prints its version', async () => {
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

it.each([
  ['rnu', "error: unknown command 'rnu'\n(Did you mean run?)"],
  ['ask.ts', "error: unknown command 'ask.ts'. To run a file: batchling run ask.ts"],
  ['--verison', "error: unknown option '--verison'\n(Did you mean --version?)"],
])('exits with 2 for: batchling %s', async (given, told) => {
  const { code, stdout, stderr } = await runCli([given]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(told);
});
