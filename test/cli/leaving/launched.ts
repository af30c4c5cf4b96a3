import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../support/processes/compiled.ts';
import type { Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Lines of stdout. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** A program that runs as a child of the CLI. */
export interface Launched {
  readonly ended: Promise<Ended>;
  /** What it has written there so far. */
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  type(text: string): void;
  /** Resolves when it has printed such a line. */
  printed(part: string): Promise<void>;
}

/** See `left-alone.mjs`. */
export interface Launch {
  readonly store: string;
  readonly client?: 'fetch' | 'withOwnTimer' | 'openai' | 'anthropic';
  readonly prompts?: readonly string[];
  readonly form?: 'all at once' | 'one after another';
  readonly also?: readonly string[];
  readonly isTopLevel?: boolean;
  readonly environment?: Record<string, string>;
}

/** Starts a program that knows nothing of batchling. */
export function launch(stage: Stage, given: Launch): Promise<Launched> {
  const { client = 'fetch', prompts = ['a', 'b'], form = 'all at once', also, isTopLevel } = given;
  const baseURL = stage.simulator.baseUrl(client === 'anthropic' ? client : 'openai');
  const path = fileURLToPath(
    new URL('../../support/programs/launched/left-alone.mjs', import.meta.url),
  );
  const input = JSON.stringify({ client, baseURL, prompts, form, also });
  const parameters = [path, input, isTopLevel ? 'top-level await' : ''];
  return launchProgram(stage, parameters, { BATCHLING_STORE: given.store, ...given.environment });
}

/** `node --import batchling/register …`, with the variables that the CLI sets. */
export async function launchProgram(
  stage: Stage,
  parameters: readonly string[],
  environment: Record<string, string>,
): Promise<Launched> {
  const register = await compiledModule('src/register');
  const { BATCHLING_RUN: _, BATCHLING_DISPLAY: __, ...inherited } = process.env;
  const hosts = Object.entries(stage.hosts).map((entry) => entry.join('='));
  const child = spawn(process.execPath, ['--import', register, ...parameters], {
    env: {
      ...inherited,
      BATCHLING_REPORT: join(stage.folder, 'nobody-listens'),
      BATCHLING_HOSTS: hosts.join(','),
      BATCHLING_WINDOW: '150ms',
      BATCHLING_POLL: '20ms',
      ...environment,
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
  let isOver = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      isOver = true;
      resolve({ code, signal, lines: stdout.split('\n').filter(Boolean), stderr });
    });
  });
  return {
    ended,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal),
    type: (text) => child.stdin.write(text),
    printed: (part) =>
      until(() => {
        if (isOver && !stdout.includes(part)) throw new Error(`It has ended: ${stderr}`);
        return stdout.includes(part);
      }, part),
  };
}
