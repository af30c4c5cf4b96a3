import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledProgram } from '../processes/compiled.ts';
import { type Resize, replay, type Shown, type Size } from './emulated-terminal.ts';
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
  /** What a terminal emulator shows now; unlike `lines`, it knows all escape codes. */
  shown(): Promise<Shown>;
  /** As if somebody dragged the corner of the window. */
  resize(size: Size): void;
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
  rows = 24,
): Promise<RunningInTerminal> {
  const program = await compiledProgram(name);
  const command = [process.execPath, program, JSON.stringify(input)].map(quoted).join(' ');
  return runCommand(`${command} ${redirection}`, columns, environment, rows);
}

export function runCommand(
  command: string,
  columns: number,
  environment: Record<string, string> = {},
  rows = 24,
): RunningInTerminal {
  if (spawnSync('script', ['--version']).error) {
    throw new Error('This test needs the program `script` of util-linux to make a terminal.');
  }
  const { BATCHLING_RUN: _, BATCHLING_DISPLAY: __, CI: _____, ...inherited } = process.env;
  const { NO_COLOR: ___, FORCE_COLOR: ____, ...quiet } = inherited;
  const folder = mkdtempSync(join(tmpdir(), 'batchling-terminal-'));
  const device = join(folder, 'device');
  const line = `stty cols ${columns} rows ${rows}; tty > '${device}'; exec ${command}`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { ...quiet, TERM: 'xterm-256color', SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  const resizes: Resize[] = [];
  const shown = () => replay(written, { columns, rows }, resizes);
  const resize = (size: Size) => {
    // A window that changes its size tells the device afterwards.
    resizes.push({ ...size, at: written.length });
    const name = readFileSync(device, 'utf8').trim();
    spawnSync('stty', ['-F', name, 'cols', String(size.columns), 'rows', String(size.rows)]);
  };
  const lines = () => new TerminalScreen(columns).write(written).lines;
  const ended = new Promise<TerminalRun>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      rmSync(folder, { recursive: true, force: true });
      resolve({ code, lines: safely(lines), written });
    });
  });
  const type = (text: string) => void child.stdin.write(text);
  return { ended, lines, written: () => written, type, shown, resize };
}

/** Of programs whose output needs a terminal emulator there are no plain lines. */
function safely(lines: () => readonly string[]): readonly string[] {
  try {
    return lines();
  } catch {
    return [];
  }
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}
