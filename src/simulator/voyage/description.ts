import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import type { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';

/** In seconds. */
const window = 12 * 3600;

const dates = [
  'created_at',
  'in_progress_at',
  'finalizing_at',
  'completed_at',
  'failed_at',
  'cancelling_at',
  'cancelled_at',
];

/** Voyage: times are texts, errors are `detail`, and there is no word for a batch that expires. */
export const voyageDescription: OpenAILike = {
  ...openaiDescription,
  name: 'voyage',
  barePaths: [],
  endpoints: ['/v1/embeddings', '/v1/contextualizedembeddings', '/v1/rerank'],
  windows: ['12h'],
  createFields: ['input_file_id', 'endpoint', 'completion_window', 'request_params', 'metadata'],
  bareLines: true,
  statuses: { expired: 'completed' },
  batchIdPrefix: 'batch-',
  requestsPerBatch: 100_000,
  bytesPerBatch: 1_000_000_000,
  embeddingInputsPerBatch: 100_000,
  scopeHeaders: [],
  errorBody: ({ message }: Refusal) => ({ detail: message }),
  fileObject: ({ status: _status, ...file }) => withDates(file, ['created_at', 'expires_at']),
  batchObject({ model: _model, usage: _usage, expires_at: _end, expired_at: _expired, ...batch }) {
    const expected = { expected_completion_at: iso(Number(batch.created_at) + window) };
    return { ...withDates(batch, dates), ...expected };
  },
  resultLine,
};

function withDates(object: JsonObject, names: readonly string[]): JsonObject {
  const told = names.map((name) => [name, iso(object[name])]);
  return { ...object, ...Object.fromEntries(told) };
}

function iso(seconds: unknown): string | null {
  return typeof seconds === 'number' ? new Date(seconds * 1000).toISOString() : null;
}

/** What failed has its message beside its status. */
function resultLine({ id: _id, custom_id, response, error }: JsonObject): JsonObject {
  const named = { batch_id: 'batch-simulator', custom_id };
  if (!isObject(response)) return { ...named, response: null, error };
  const { status_code, body } = response;
  if (status_code === 200) return { ...named, response: { status_code, body }, error: null };
  const message = isObject(body) ? body.detail : undefined;
  return { ...named, response: { status_code, message }, error: null };
}
