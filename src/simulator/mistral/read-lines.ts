import { isObject, parseJson } from '../server/json.ts';
import { readLines } from '../server/lines.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import type { MistralJob } from './details.ts';
import { promptOf } from './dialect.ts';

/** What is checked after the create was accepted. One bad line fails the job. */
export async function readJobLines(
  world: World,
  { input, endpoint, model }: MistralJob,
): Promise<BatchLine[] | { errors: BatchError[] }> {
  const { limits } = world.settings;
  const most = limits.mistral?.requestsPerBatch ?? mistralDescription.requestsPerBatch;
  const pause = world.clock.slices();
  const lines: BatchLine[] = [];
  const customIds = new Set<string>();
  for (const { line, text } of readLines(input)) {
    await pause();
    const read = readLine(text, endpoint, model);
    if (typeof read === 'string') return failed(`Line ${line}: ${read}`);
    if (customIds.has(read.customId)) return failed(`Line ${line}: custom_id is not unique`);
    customIds.add(read.customId);
    lines.push(read);
    if (lines.length > most) return failed(`A job may have at most ${most} requests`);
  }
  return lines.length > 0 ? lines : failed('The input is empty');
}

function failed(message: string): { errors: BatchError[] } {
  return { errors: [{ code: 'invalid_input', message }] };
}

/** The request, with the model of its job; or what is wrong with it. */
function readLine(text: string, endpoint: string, model: string): BatchLine | string {
  const value = parseJson(text);
  if (value === undefined) return 'invalid JSON';
  if (!isObject(value)) return 'not an object';
  const { custom_id: customId, body, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `extra field ${unknown}`;
  if (typeof customId !== 'string' || customId === '') return 'custom_id is missing';
  if (!isObject(body)) return 'body is missing';
  if (body.model !== undefined && body.model !== model) return 'the model is not that of the job';
  if (promptOf(endpoint, body).includes('[[invalid]]')) return 'marked as invalid';
  return { customId, endpoint, body: { ...body, model } };
}
