import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Stage } from '../stage.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface ExampleOptions {
  readonly store: string;
  readonly arguments?: readonly string[];
  readonly environment?: Record<string, string>;
  /** Under `--import batchling/register`. */
  readonly registered?: boolean;
}

export interface RunningExample {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** What it printed, as one JSON value per line; rejects if it ended badly. */
  lines<Line>(): Promise<Line[]>;
}

/** Starts `examples/<name>` as its readers do, with variables that lead to the simulator. */
export function startExample(stage: Stage, name: string, options: ExampleOptions): RunningExample {
  const { BATCHLING_RUN: _, ...inherited } = process.env;
  const register = options.registered ? ['--import', './src/register.ts'] : [];
  const given = ['--import', 'tsx', ...register, `examples/${name}`, ...(options.arguments ?? [])];
  const child = spawn(process.execPath, given, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      OPENAI_API_KEY: 'sk-example',
      OPENAI_BASE_URL: stage.simulator.baseUrl('openai'),
      BATCHLING_HOSTS: Object.entries(stage.hosts)
        .map(([base, provider]) => `${base}=${provider}`)
        .join(','),
      BATCHLING_STORE: options.store,
      BATCHLING_WINDOW: '100ms',
      BATCHLING_POLL: '20ms',
      BATCHLING_DISPLAY: 'none',
      ...options.environment,
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
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    async lines() {
      const code = await closed;
      if (code !== 0) throw new Error(`examples/${name} ended with ${code}: ${stderr}`);
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
  };
}
