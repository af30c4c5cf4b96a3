import type { StoredFile } from '../openai-like/files/files.ts';
import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import { mistralDescription } from './description.ts';
import { type MistralJob, newJob } from './details.ts';
import { invalid } from './errors.ts';

const fields = [
  'input_files',
  'requests',
  'endpoint',
  'model',
  'agent_id',
  'metadata',
  'timeout_hours',
];
/** Fewer than this many may travel in the create call. */
const tooManyInline = 10_000;
const sevenDays = 7 * 24;

/** What the create call itself refuses; the lines are judged later. */
export function checkCreate(
  body: JsonObject,
  findFile: (id: string) => StoredFile | undefined,
): MistralJob {
  const unknown = Object.keys(body).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw invalid(unknown, 'Extra inputs are not permitted');
  const { endpoint, model, timeout_hours: hours = 24 } = body;
  if (!mistralDescription.endpoints.includes(String(endpoint))) {
    throw invalid('endpoint', `Input should be one of ${mistralDescription.endpoints.join(', ')}`);
  }
  if (typeof model !== 'string') throw invalid('model', 'A job needs a model');
  if (!Number.isInteger(hours) || Number(hours) < 1 || Number(hours) >= sevenDays) {
    throw invalid('timeout_hours', 'Input should be an integer from 1 up, lower than 7 days');
  }
  const source = inputOf(body, findFile);
  return newJob(String(endpoint), model, metadataOf(body.metadata), source);
}

function inputOf(
  { input_files: files, requests }: JsonObject,
  findFile: (id: string) => StoredFile | undefined,
): Pick<MistralJob, 'input' | 'inputFiles'> {
  if (Array.isArray(files) === Array.isArray(requests)) {
    throw invalid('requests', 'Exactly one of input_files and requests must be given');
  }
  if (Array.isArray(requests)) return { inputFiles: [], input: checkInline(requests) };
  const inputFiles = (files as unknown[]).map(String);
  if (inputFiles.length === 0) throw invalid('input_files', 'At least one file is needed');
  const input = inputFiles.flatMap((id) => {
    const file = findFile(id);
    if (file === undefined) throw new Refusal(404, `No file matches the given query: ${id}`);
    if (file.purpose !== 'batch')
      throw invalid('input_files', 'The purpose of a file must be batch');
    return file.chunks;
  });
  return { inputFiles, input };
}

function checkInline(requests: readonly unknown[]): Buffer[] {
  if (requests.length === 0) throw invalid('requests', 'List should have at least 1 item');
  if (requests.length >= tooManyInline) {
    throw invalid('requests', `List should have fewer than ${tooManyInline} items`);
  }
  return inlineLines(requests);
}

/** Requests that travel in the create call, as the lines of a file that they could have been. */
export function inlineLines(requests: readonly unknown[]): Buffer[] {
  return requests.map((request) => Buffer.from(`${JSON.stringify(request)}\n`));
}

function metadataOf(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw invalid('metadata', 'Input should be a valid dictionary');
  for (const text of Object.values(value)) {
    if (typeof text !== 'string') throw invalid('metadata', 'Input should be a valid string');
  }
  return value as Record<string, string>;
}
