import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CliOptions,
  runCli,
  startCli,
  variablesOf,
  writeFiles,
} from '../support/processes/run-cli.ts';
import type { Finished } from '../support/processes/run-program.ts';
import type { Stage } from '../support/stage.ts';

let folders = 0;

/** A folder with input files, and `batchling map` run in it against the simulator. */
export interface MapBench {
  readonly folder: string;
  readonly store: string;
  map(...given: string[]): Promise<Finished>;
  start(...given: string[]): ReturnType<typeof startCli>;
  startWith(options: CliOptions, ...given: string[]): ReturnType<typeof startCli>;
  with(options: CliOptions, ...given: string[]): Promise<Finished>;
  read(name: string): Promise<string>;
  /** The lines of a file of JSON lines. */
  lines(name: string): Promise<Record<string, unknown>[]>;
}

export async function mapBench(
  stage: Stage,
  files: Record<string, string | Buffer> = {},
): Promise<MapBench> {
  folders += 1;
  const folder = join(stage.folder, `map ${folders}`);
  await writeFiles(folder, { 'package.json': '{}', ...files });
  const store = stage.newStore();
  const google = stage.simulator.baseUrl('google');
  const variables = variablesOf(stage, store);
  const environment = {
    ...variables,
    BATCHLING_HOSTS: `${variables.BATCHLING_HOSTS},${google}=google`,
    // A canary is one call at full price; it has a test of its own.
    BATCHLING_CANARY: 'false',
    OPENAI_API_KEY: 'sk-test',
    ANTHROPIC_API_KEY: 'sk-ant-test',
    GEMINI_API_KEY: 'gm-test',
  };
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  const options = { folder, environment };
  const merged = (more: CliOptions): CliOptions => ({
    ...options,
    ...more,
    environment: { ...environment, ...more.environment },
  });
  return {
    folder,
    store,
    map: (...given) => runCli(['map', ...given], options),
    start: (...given) => startCli(['map', ...given], options),
    startWith: (more, ...given) => startCli(['map', ...given], merged(more)),
    with: (more, ...given) => runCli(['map', ...given], merged(more)),
    read,
    lines: async (name) =>
      (await read(name))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

export function openaiLine(id: string, prompt: string, model = 'gpt-5-mini'): string {
  const body = { model, messages: [{ role: 'user', content: prompt }] };
  return JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });
}

export function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
