import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { BatchlingError } from '../../base/errors.ts';
import type { InputPart } from '../input/input-part.ts';
import type { MapRequest } from '../map-request.ts';
import { differences, type InputFacts, type JobState } from './job-state.ts';

/** Everything of a request that decides about what is asked and how the output looks. */
export function termsOf(request: MapRequest, provider: string): Record<string, string> {
  const { shard, schema, body, input, to, model, prompt, system, url, into } = request;
  const given: Record<string, string | number | undefined> = {
    provider,
    '--input': input,
    '--to': to,
    '--model': model,
    '--prompt': prompt,
    '--system': system,
    '--schema': schema && JSON.stringify(schema),
    '--max-tokens': request.maxTokens,
    '--body': body && JSON.stringify(body),
    '--url': url,
    '--into': into,
    '--limit': request.limit,
    '--sample': request.sample,
    '--seed': request.seed,
    '--shard': shard && `${shard.index}/${shard.count}`,
    '--unordered': request.unordered ? 'true' : undefined,
    '--skip-bad': request.skipBad ? 'true' : undefined,
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
}

/** The files of the input, with what tells them apart from changed ones. */
export async function inputFacts(
  parts: readonly InputPart[],
  before: readonly InputFacts[],
  stopped: AbortSignal,
): Promise<InputFacts[]> {
  const facts: InputFacts[] = [];
  for (const [index, { shown: name, path, file }] of parts.entries()) {
    const { size: bytes, mtimeMs: modified } = file;
    const known = before[index];
    // A file of that size that nobody has touched is the same one: reading it all would take a while.
    const isSame = known?.name === name && known.bytes === bytes && known.modified === modified;
    facts.push({
      name,
      bytes,
      modified,
      digest: isSame ? known.digest : await digestOf(path, stopped),
    });
  }
  return facts;
}

/** Throws where a job with this state is another one than the one that is asked for. */
export function refuseChanged(
  state: JobState,
  input: readonly InputFacts[],
  terms: Readonly<Record<string, string>>,
): void {
  const changed = differences(state.terms, terms);
  if (input.length !== state.input.length) {
    changed.unshift(`the number of input files was ${state.input.length} and is ${input.length}`);
  }
  for (const [index, { name, digest }] of input.entries()) {
    const before = state.input[index];
    if (before && before.digest !== digest) changed.unshift(`${name} has changed`);
  }
  if (changed.length === 0) return;
  throw new BatchlingError(
    'BAD_INPUT',
    `The output belongs to another job: ${changed.join('; ')}. Name another output, or begin anew with --restart: ` +
      'answers that the ledger has are not paid again.',
  );
}

async function digestOf(path: string, stopped: AbortSignal): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    stopped.throwIfAborted();
    digest.update(chunk as Buffer);
  }
  return digest.digest('hex');
}
