import { promptOf } from '../openai-like/dialect.ts';
import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { BatchLine } from '../world/batches/batch.ts';

const endpoint = '/v1/chat/completions';

/** All requests are checked before the first is taken; the one at fault is named. */
export function checkCreate(
  body: JsonObject,
  mostRequests: number,
  models: readonly string[] | null,
): BatchLine[] {
  const { window, requests, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Refusal(400, `Unknown field: ${unknown}`);
  if (window !== '24h') throw new Refusal(400, 'window must be one of "24h"');
  if (!Array.isArray(requests) || requests.length === 0) {
    throw new Refusal(400, 'requests must hold at least one request');
  }
  if (requests.length > mostRequests) throw new Refusal(413, 'Request Entity Too Large');
  const lines = requests.map(readRequest);
  const [first] = lines;
  const other = lines.findIndex((line) => line.body.model !== first?.body.model);
  if (other >= 0) throw new Refusal(400, 'all requests of a batch must use the same model');
  const model = String(first?.body.model);
  if (models?.includes(model) === false) throw new Refusal(400, `Unknown model: ${model}`);
  return lines;
}

function readRequest(item: unknown, index: number): BatchLine {
  const at = `requests[${index}]`;
  if (!isObject(item)) throw new Refusal(400, `${at}: must be an object`);
  const { custom_id: customId, body, ...others } = item;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Refusal(400, `${at}: unknown field ${unknown}`);
  if (!isObject(body)) throw new Refusal(400, `${at}: body is required`);
  const told = `${at} (custom_id=${customId})`;
  if (typeof body.model !== 'string') throw new Refusal(400, `${told}: body.model is required`);
  if (body.background === true) {
    throw new Refusal(400, `${told}: background is not supported in batch request bodies`);
  }
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    throw new Refusal(400, `${told}: body.messages must be a non-empty list`);
  }
  if (promptOf(endpoint, body).includes('[[invalid]]')) {
    throw new Refusal(400, `${told}: marked as invalid`);
  }
  return { customId: String(customId ?? ''), endpoint, body };
}
