import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import type { OpenRouterBatch } from './batch-wire.ts';
import { openrouterDescription } from './description.ts';
import { messagesEndpoint } from './dialect.ts';

const endpoints = [...openrouterDescription.endpoints, messagesEndpoint];
const known = ['endpoint', 'model', 'completion_window', 'provider', 'requests'];
const longestCustomId = 64;

/** What the create itself refuses. It is read as a stream, so that the order of its members matters. */
export function checkCreate(
  body: JsonObject,
  mostRequests: number,
  models: readonly string[] | null,
): OpenRouterBatch {
  const names = Object.keys(body);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Refusal(400, `Unrecognized key: ${unknown}`);
  const { endpoint, model, completion_window: window = '24h', provider, requests } = body;
  const last = Math.max(names.indexOf('endpoint'), names.indexOf('model'));
  if (
    typeof endpoint !== 'string' ||
    typeof model !== 'string' ||
    last > names.indexOf('requests')
  ) {
    throw new Refusal(400, 'endpoint and model must come before requests');
  }
  if (!endpoints.includes(endpoint)) throw new Refusal(400, `Invalid endpoint: ${endpoint}`);
  if (window !== '24h') throw new Refusal(400, 'completion_window must be "24h"');
  checkProvider(provider);
  if (models?.includes(model) === false) {
    throw new Refusal(400, `Model '${model}' does not have a :batch endpoint.`);
  }
  if (!Array.isArray(requests) || requests.length === 0) {
    throw new Refusal(400, 'requests must be a non-empty array');
  }
  if (requests.length > mostRequests) throw new Refusal(413, 'The batch is too large.');
  const lines = requests.map((item) => readRequest(item, endpoint, model));
  const ids = new Set(lines.map(({ customId }) => customId));
  if (ids.size < lines.length) throw new Refusal(400, 'custom_id must be unique within the batch');
  return { endpoint, model, count: lines.length, requests: lines, results: null };
}

function checkProvider(provider: unknown): void {
  if (provider === undefined) return;
  const [other] = Object.keys(isObject(provider) ? provider : {}).filter((name) => name !== 'only');
  if (!isObject(provider) || other !== undefined) {
    throw new Refusal(400, `Only provider.only is supported, not ${other ?? provider}`);
  }
}

function readRequest(item: unknown, endpoint: string, model: string): BatchLine {
  if (!isObject(item)) throw new Refusal(400, 'A request must be an object');
  const { custom_id: customId, body, ...others } = item;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Refusal(400, `Unrecognized key in a request: ${unknown}`);
  if (typeof customId !== 'string' || customId === '')
    throw new Refusal(400, 'custom_id: Required');
  if (customId.length > longestCustomId) {
    throw new Refusal(422, 'this provider caps custom_id at 64 characters');
  }
  if (!isObject(body)) throw new Refusal(400, 'body: Required');
  if (body.model !== undefined && body.model !== model) {
    throw new Refusal(400, 'Each batch request body model must match the top-level model.');
  }
  if (body.provider !== undefined) throw new Refusal(400, 'provider belongs to the whole batch');
  return { customId, endpoint, body: { ...body, model } };
}
