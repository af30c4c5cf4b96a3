import { promptOf } from '../openai-like/dialect.ts';
import { isObject, parseJson } from '../server/json.ts';
import { readLines } from '../server/lines.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';

const urls = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/videos',
  '/v1/videos/generations',
  '/v1/videos/edits',
  '/v1/videos/extensions',
];

/** What xAI finds out after the create was accepted. The first line at fault cancels the whole batch. */
export function checkLines(
  input: readonly Buffer[],
  mostLines: number,
  models: readonly string[] | null,
): BatchLine[] | { errors: BatchError[] } {
  const lines: BatchLine[] = [];
  const ids = new Set<string>();
  for (const { line, text } of readLines(input)) {
    const read = readLine(text);
    if (typeof read === 'string') return invalid(`line ${line}: ${read}`);
    const model = String(read.body.model);
    if (models?.includes(model) === false) {
      return invalid(`Model ${model} is not supported for batch processing`);
    }
    if (ids.has(read.customId)) return invalid(`line ${line}: duplicate custom_id`);
    ids.add(read.customId);
    lines.push(read);
    if (lines.length > mostLines) return invalid(`more than ${mostLines} requests`);
  }
  return lines.length > 0 ? lines : invalid('the file is empty');
}

function readLine(text: string): BatchLine | string {
  const value = parseJson(text);
  if (value === undefined) return 'invalid JSON';
  if (!isObject(value)) return 'not an object';
  const { custom_id: customId, method, url, body } = value;
  if (typeof customId !== 'string' || customId === '') return 'custom_id is missing';
  if (method !== 'POST') return 'method must be POST';
  if (typeof url !== 'string' || !urls.includes(url)) return `unsupported url ${url}`;
  if (!isObject(body) || typeof body.model !== 'string') return 'body.model is missing';
  if (promptOf(url, body).includes('[[invalid]]')) return 'marked as invalid';
  return { customId, endpoint: url, body };
}

function invalid(reason: string): { errors: BatchError[] } {
  return { errors: [{ code: 'invalid', message: `JSONL file validation failed: ${reason}` }] };
}
