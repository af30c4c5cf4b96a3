import { execFileSync } from 'node:child_process';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { version } from '../../src/base/version.ts';
import { commands } from '../../src/cli/commands.ts';
import { optionFlags } from '../../src/options/flags.ts';
import { runCli } from '../support/processes/run-cli.ts';

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
  for (const { name, isSwitch, placeholder } of optionFlags) {
    expect(stdout).toContain(isSwitch ? name.slice(2) : `${name} <${placeholder}>`);
  }
  expect(stdout).toContain('--lane <batch|flex|realtime>');
  expect(stdout).toContain('--dry-run[=deep]');
  expect(stdout).toContain('--[no-]cache');
});

it.each([
  ['run', '--[no-]canary[=batch]', 'false'],
  ['map', '--[no-]canary[=batch]', 'call'],
  ['serve', '--[no-]canary[=batch]', 'false'],
  ['collect', '--[no-]cleanup', 'true'],
])('shows a switch of %s as it is typed, with its default: %s', async (command, typed, usual) => {
  const { stdout } = await runCli(['help', command]);
  const text = stdout.replaceAll(/\s+/g, ' ');
  const [, after = ''] = text.split(` ${typed} `);
  expect(after).toMatch(new RegExp(`^[^(]*\\(default: ${usual}\\)`));
});

it.each([
  ['serve', '--no-cleanup', '--canary', '--port', 'x'],
  ['serve', '--canary=batch', '--prime-cache', '--port', 'x'],
  ['collect', '--no-cleanup', '--poll', 'x'],
])('takes switches without a value: batchling %s %s %s', async (...given) => {
  const { code, stderr } = await runCli(given);
  expect(code).toBe(2);
  expect(stderr).toMatch(/--(port|poll)/);
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

/** What a shell offers for the last word of a line. */
const shells = {
  bash: (script: string, words: string[]) =>
    `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_batchling; printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: (script: string, words: string[]) => `${script}\ncomplete -C '${words.join(' ')}'`,
};

it.each(['bash', 'fish'] as const)('completes commands and flags in %s', async (shell) => {
  const { code, stdout: script, stderr } = await runCli(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(script).toContain('max-store-size');
  if (!isInstalled(shell)) return;
  const offered = (...words: string[]) =>
    execFileSync(shell, ['-c', shells[shell](script, words)], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.replace(/\t.*/, ''))
      .filter(Boolean);
  expect(offered('batchling', 'simu')).toEqual(['simulate']);
  expect(offered('batchling', 'run', '--max-')).toEqual(
    expect.arrayContaining(['--max-in-flight', '--max-store-size', '--max-window']),
  );
  expect(offered('batchling', 'run', '--no-cac')).toEqual(['--no-cache']);
  expect(offered('batchling', 'run', '--can')).toEqual(['--canary']);
  expect(offered('batchling', 'simulate', '--win')).toEqual([]);
});

it('completes in zsh', async () => {
  const { stdout: script } = await runCli(['completion', 'zsh']);
  expect(script).toContain(
    "'--window:send a batch after this long without a new call (default\\: 5s)'",
  );
  if (!isInstalled('zsh')) return;
  const line = `autoload -U compinit; compinit -D -u; ${script}\necho "$_comps[batchling]"`;
  expect(execFileSync('zsh', ['-fc', line], { encoding: 'utf8' })).toBe('_batchling\n');
});

it('exits with 2 for a shell that it does not know', async () => {
  const { code, stderr } = await runCli(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ['--version']);
    return true;
  } catch {
    return false;
  }
}
