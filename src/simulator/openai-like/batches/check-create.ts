import { Refusal } from '../../server/exchange.ts';
import { isObject, type JsonObject } from '../../server/json.ts';
import type { OpenAILike } from '../description.ts';
import { invalid, missing } from '../errors.ts';
import { checkLifetime, type StoredFile } from '../files/files.ts';
import { createDetails, type OpenAIBatch } from './details.ts';

/** What the create call itself refuses; the content of the file is judged later. */
export function checkCreate(
  { endpoints, windows, usualWindow, createFields, purpose }: OpenAILike,
  body: JsonObject,
  findFile: (id: string) => StoredFile | undefined,
): OpenAIBatch {
  const unknown = Object.keys(body).find((name) => !createFields.includes(name));
  if (unknown !== undefined) {
    const details = { code: 'unknown_parameter', param: unknown };
    throw new Refusal(400, `Unknown parameter: '${unknown}'.`, details);
  }
  const { input_file_id: fileId, endpoint, completion_window: window = usualWindow } = body;
  if (typeof fileId !== 'string') throw missing('input_file_id');
  if (typeof endpoint !== 'string') throw missing('endpoint');
  if (window === undefined) throw missing('completion_window');
  if (!endpoints.includes(endpoint)) {
    throw invalid('endpoint', `'${endpoint}' is not one of ${endpoints.join(', ')}.`);
  }
  if (!windows.includes(String(window))) {
    throw invalid('completion_window', `must be '${windows.join("' or '")}'.`);
  }
  const file = findFile(fileId);
  if (file === undefined) {
    throw new Refusal(400, `No such File object: ${fileId}`, { param: 'input_file_id' });
  }
  if (file.purpose !== purpose) {
    throw invalid('input_file_id', `the file's purpose is '${file.purpose}', not '${purpose}'.`);
  }
  return {
    ...createDetails(endpoint, file),
    window: String(window),
    metadata: metadataOf(body.metadata),
    outputLifetime: outputLifetimeOf(body.output_expires_after),
  };
}

function metadataOf(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw invalid('metadata', 'must be an object.');
  const pairs = Object.entries(value);
  if (pairs.length > 16) throw invalid('metadata', 'at most 16 pairs are allowed.');
  for (const [key, text] of pairs) {
    if (key.length > 64) throw invalid('metadata', 'a key may have at most 64 characters.');
    if (typeof text !== 'string') throw invalid(`metadata.${key}`, 'must be a string.');
    if (text.length > 512) throw invalid(`metadata.${key}`, 'at most 512 characters.');
  }
  return value as Record<string, string>;
}

function outputLifetimeOf(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const { anchor, seconds } = isObject(value) ? value : {};
  return checkLifetime('output_expires_after', anchor, seconds);
}
