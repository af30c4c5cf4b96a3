import { spawn, spawnSync } from 'node:child_process';
import { compiledProgram } from './compiled.ts';
import { TerminalScreen } from './screen-of.ts';

export interface TerminalRun {
  readonly code: number | null;
  /** What the terminal shows at the end. */
  readonly lines: readonly string[];
  /** Everything that was written to it. */
  readonly written: string;
}

export interface RunningInTerminal {
  readonly ended: Promise<TerminalRun>;
  /** What the terminal shows now. */
  lines(): readonly string[];
  written(): string;
  /** As if somebody typed it. */
  type(text: string): void;
}

/**
 * Runs `test/support/programs/<name>.ts` in a pseudo-terminal of its own, made by `script` of
 * util-linux, which every Debian has.
 */
export async function runInTerminal(
  name: string,
  input: unknown,
  columns = 80,
  environment: Record<string, string> = {},
  /** Of the shell: `> file`. */
  redirection = '',
): Promise<RunningInTerminal> {
  const program = await compiledProgram(name);
  const command = [process.execPath, program, JSON.stringify(input)].map(quoted).join(' ');
  return runCommand(`${command} ${redirection}`, columns, environment);
}

export function runCommand(
  command: string,
  columns: number,
  environment: Record<string, string> = {},
): RunningInTerminal {
  if (spawnSync('script', ['--version']).error) {
    throw new Error('This test needs the program `script` of util-linux to make a terminal.');
  }
  const { BATCHLING_RUN: _, BATCHLING_DISPLAY: __, ...inherited } = process.env;
  const { NO_COLOR: ___, FORCE_COLOR: ____, ...quiet } = inherited;
  const line = `stty cols ${columns} rows 24; exec ${command}`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { ...quiet, TERM: 'xterm-256color', SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  const lines = () => new TerminalScreen(columns).write(written).lines;
  const ended = new Promise<TerminalRun>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, lines: lines(), written }));
  });
  return { ended, lines, written: () => written, type: (text) => child.stdin.write(text) };
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}
