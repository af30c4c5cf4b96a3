import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiledProgram } from '../support/compiled.ts';
import type { Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Lines of stdout. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** A program that runs, as the CLI starts it. */
export interface Launched {
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  type(text: string): void;
  /** Resolves when it has printed this line. */
  printed(line: string): Promise<void>;
}

export interface Launch {
  readonly store: string;
  readonly provider?: 'openai' | 'anthropic';
  readonly prompts?: readonly string[];
  readonly form?: 'top-level await' | 'promise';
  /** What else the program does; see `left-alone.mjs`. */
  readonly also?: readonly string[];
  readonly program?: string;
  readonly environment?: Record<string, string>;
}

export async function launch(stage: Stage, given: Launch): Promise<Launched> {
  const { store, provider = 'openai', prompts = ['a', 'b'], form, also } = given;
  const programs = new URL('../support/programs/', import.meta.url);
  const path = fileURLToPath(new URL(`${given.program ?? 'left-alone'}.mjs`, programs));
  const register = join(dirname(await compiledProgram('ask-all')), '../../../src/register.js');
  // The SDK of Anthropic adds `/v1` itself.
  const base = stage.simulator.baseUrl(provider);
  const input = { provider, baseURL: base, prompts, form, also };
  const { BATCHLING_RUN: _, BATCHLING_DISPLAY: __, ...inherited } = process.env;
  const child = spawn(process.execPath, ['--import', register, path, JSON.stringify(input)], {
    env: {
      ...inherited,
      BATCHLING_REPORT: join(stage.folder, 'nobody-listens'),
      BATCHLING_STORE: store,
      BATCHLING_HOSTS: Object.entries(stage.hosts)
        .map((entry) => entry.join('='))
        .join(','),
      BATCHLING_WINDOW: '50ms',
      BATCHLING_POLL: '20ms',
      ...given.environment,
    },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const lines = () => stdout.split('\n').filter(Boolean);
  let isOver = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      isOver = true;
      resolve({ code, signal, lines: lines(), stderr });
    });
  });
  return {
    ended,
    kill: (signal) => child.kill(signal),
    type: (text) => child.stdin.write(text),
    printed: (line) =>
      until(() => {
        if (isOver && !lines().includes(line)) throw new Error(`It ended: ${stderr}`);
        return lines().includes(line);
      }, `the line ${line}`),
  };
}
