import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DisplayMode } from '../../../../src/report/display.ts';
import { openRunDisplay } from '../../../../src/report/run/run-display.ts';
import { readInput } from '../parts/read-input.ts';
import type { RunChild } from './run-child.ts';

/** What the command line does: opens the display, starts the processes of the run, waits for them. */
export interface RunParent {
  readonly mode?: DisplayMode;
  readonly children: readonly RunChild[];
  readonly environment: Record<string, string>;
  /** Where to write the outcome of the run; before that, the id of this process as `<outcome>.pid`. */
  readonly outcome?: string;
  /** Fails when it is told to by SIGUSR2. */
  readonly end?: 'throw';
}

const { mode, children, environment, outcome, end } = readInput<RunParent>();
const display = openRunDisplay({ mode, stream: process.stderr });
const register = new URL('../../../../src/register.js', import.meta.url).href;
const program = fileURLToPath(new URL('run-child.js', import.meta.url));

if (outcome !== undefined) writeFileSync(`${outcome}.pid`, String(process.pid));
const env = { ...process.env, ...environment, BATCHLING_RUN: 'one-run', ...display.variables };
const codes = children.map((child) => {
  const started = spawn(process.execPath, ['--import', register, program, JSON.stringify(child)], {
    stdio: 'inherit',
    env,
  });
  return new Promise<number>((resolve) => {
    started.once('exit', (code, signal) => resolve(signal ? 128 : (code ?? 1)));
  });
});

process.on('SIGUSR2', () => {
  if (end === 'throw') throw new Error('the parent has failed');
});

process.exitCode = Math.max(...(await Promise.all(codes)));
const result = await display.close();
if (outcome !== undefined) writeFileSync(outcome, JSON.stringify(result));
