import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { messageOf } from '../../base/errors.ts';
import { canaryOfJobs } from '../../map/job-options.ts';
import type { MapRequest } from '../../map/map-request.ts';
import { optionFlags } from '../../options/flags.ts';
import { integer } from '../../options/scalars.ts';
import { onDoneFlag } from '../done/on-done.ts';
import { addOptionFlags, withSwitchValues } from '../option-flags.ts';
import { readFlag } from '../store/ledger-flags.ts';
import { usageError } from '../usage-error.ts';

/** Flags as commander hands them over. */
export interface MapFlags {
  readonly [name: string]: string | boolean | undefined;
}

/** Options that mean nothing to a job. */
const leftOut: ReadonlySet<string> = new Set(['hooks', 'only', 'bypass']);

/** The options of `batchify` that a job takes as flags. */
export const mapOptionFlags = optionFlags.filter(({ option }) => !leftOut.has(option));
const inputForms = ['openai', 'anthropic', 'google', 'rows', 'csv', 'tsv'] as const;

export function addMapFlags(command: Command): void {
  command
    .option('-o, --output <file>', 'where answers go (default: standard output); .gz is compressed')
    .addOption(
      new Option(
        '--input <form>',
        'the form of the input, where its first line or its name does not say it',
      ).choices(inputForms),
    )
    .option('--model <provider/model>', 'the model that rows are sent to, openai/gpt-5-mini')
    .option('--prompt <text>', 'what is asked, with {{column}} for the values of a row')
    .option('--prompt-file <file>', 'the same, from a file')
    .option('--system <text>', 'a system prompt; {{column}} works here, too')
    .option('--schema <file>', 'a JSON schema: answers are objects that fit it')
    .option('--max-tokens <number>', 'the longest answer, in tokens')
    .option('--body <file>', 'a request body of your own in JSON, with {{column}} in its texts')
    .option('--url <path>', 'where it goes, /v1/embeddings')
    .option('--to <provider|url>', 'the provider, or the base URL of a server')
    .option('--into <column>', 'the column that the answer goes into (default: answer)')
    .option('--limit <number>', 'only the first lines')
    .option('--sample <number>', 'only so many lines, chosen at random')
    .option('--seed <number>', 'what --sample chooses by (default: 0)')
    .option('--shard <i/n>', 'only lines whose id belongs to this part, 3/16: for several machines')
    .option('--unordered', 'write answers as they come, not in the order of the input')
    .option('--skip-bad', 'send the other lines although some are wrong; those go to the errors')
    .option('--restart', 'begin anew, and write over the output')
    .option('--retry-errors', 'only the lines that failed last time')
    .option('--detach', 'exit with code 75 as soon as everything is sent')
    .addOption(onDoneFlag('when every line has its outcome'))
    .option('-y, --yes', 'do not ask, whatever it costs')
    .option('--config <file>', 'options from this file (default: that of the project)');
  addOptionFlags(command, mapOptionFlags, { canary: { usual: canaryOfJobs } });
}

/** Gives switches their values, wherever they stand. */
export function prepareMap(given: readonly string[]): string[] {
  return withSwitchValues(given, mapOptionFlags);
}

export function requestOf(inputs: readonly string[], flags: MapFlags): MapRequest {
  const text = (name: string) => (typeof flags[name] === 'string' ? flags[name] : undefined);
  const count = (name: string, flag: string, least: number) => {
    const given = text(name);
    return given === undefined ? undefined : readFlag(flag, given, integer(least));
  };
  if (flags.prompt !== undefined && flags.promptFile !== undefined) {
    throw usageError('Give --prompt or --prompt-file, not both');
  }
  const promptFile = text('promptFile');
  const output = text('output');
  return {
    inputs: inputs.length === 0 ? ['-'] : inputs,
    output: output === '-' ? undefined : output,
    input: text('input') as MapRequest['input'],
    to: text('to'),
    model: text('model'),
    prompt: promptFile === undefined ? text('prompt') : readText('--prompt-file', promptFile),
    system: text('system'),
    schema: jsonOf('--schema', text('schema')),
    maxTokens: count('maxTokens', '--max-tokens', 1),
    body: jsonOf('--body', text('body')),
    url: text('url'),
    into: text('into'),
    limit: count('limit', '--limit', 1),
    sample: count('sample', '--sample', 1),
    seed: count('seed', '--seed', 0),
    shard: shardOf(text('shard')),
    unordered: flags.unordered === true,
    skipBad: flags.skipBad === true,
    restart: flags.restart === true,
    retryErrors: flags.retryErrors === true,
    detach: flags.detach === true,
    yes: flags.yes === true,
  };
}

function shardOf(text: string | undefined): MapRequest['shard'] {
  if (text === undefined) return undefined;
  const [, first, second] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const [index, count] = [Number(first), Number(second)];
  if (index >= 1 && index <= count) return { index, count };
  throw usageError(`--shard is a part and the number of parts, 3/16, but got: ${text}`);
}

function jsonOf(
  flag: string,
  path: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (path === undefined) return undefined;
  const text = readText(flag, path);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    throw usageError(`${flag}: ${path} cannot be read as JSON: ${messageOf(error)}`);
  }
  throw usageError(`${flag}: ${path} does not hold a JSON object`);
}

/** Without a byte order mark, which is not meant for the model. */
function readText(flag: string, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const isText = (error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
    const why = isText ? messageOf(error) : `${path} is not text in UTF-8: convert it with iconv`;
    throw usageError(`${flag}: ${why}`);
  }
}
