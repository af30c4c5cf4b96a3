import { errorBody as messageError } from '../anthropic/errors.ts';
import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject, parseJson } from '../server/json.ts';
import type { BatchLine, Outcome } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { shuffledResults } from '../world/batches/results.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { lineDialect } from './dialect.ts';

/** What only OpenRouter's batches have. */
export interface OpenRouterBatch {
  endpoint: string;
  model: string;
  count: number;
  /** Emptied once the batch has taken them over. */
  requests: BatchLine[];
  results: readonly JsonObject[] | null;
}

export function createWire(world: World): BatchWire<OpenRouterBatch> {
  return {
    failsAsWhole: true,
    dialect: () => lineDialect,
    resultLine: (_batch, customId, outcome) =>
      JSON.stringify({ id: newId('batch_req_'), custom_id: customId, ...partsOf(outcome) }),
    async prepare({ details }) {
      const { requests } = details;
      details.requests = [];
      const problem = problemIn(requests, details.model);
      return problem === undefined ? requests : { errors: [problem] };
    },
    async publish(batch) {
      // What is no JSON cannot stand in a batch.
      batch.details.results = shuffledResults(world, batch).map((line) => {
        const value = parseJson(line);
        return isObject(value) ? value : {};
      });
    },
  };
}

/** Validation comes after the batch was taken, and fails all of it. */
function problemIn(lines: readonly BatchLine[], model: string): BatchError | undefined {
  const code = 'invalid_request';
  if (lines.some(({ body }) => holdsMedia(body))) {
    const message =
      'Batch does not support this content; remove audio, video, file, or other non-text content parts.';
    return { code, message };
  }
  const bad = lines.find((line) => isMarked(line));
  if (bad !== undefined) {
    const at = `Failed to lower batch request '${bad.customId}' to the provider wire`;
    return { code, message: `${at}: This request is marked as invalid.` };
  }
  const formats = new Set(lines.map(({ body }) => JSON.stringify(body.response_format)));
  if (!model.startsWith('google/') || formats.size <= 1) return undefined;
  const message = `All requests must use the same response_format; request '${lines[1]?.customId}' differs.`;
  return { code, message };
}

function isMarked({ endpoint, body }: BatchLine): boolean {
  return lineDialect.prompt(endpoint, body).includes('[[invalid]]');
}

const media =
  /"type":"(image|image_url|input_image|audio|input_audio|video|video_url|input_video|file|input_file|document)"/;

function holdsMedia({ messages, input, system, modalities, audio, image_config }: JsonObject) {
  if ([modalities, audio, image_config].some((field) => field !== undefined)) return true;
  return media.test(JSON.stringify([messages, input, system]));
}

/** Exactly one of `response` and `error`. What the provider behind refused has a type, and no status. */
function partsOf(outcome: Outcome) {
  switch (outcome.kind) {
    case 'answered':
      return response(outcome.body);
    case 'empty':
      return response({});
    case 'refused': {
      const { status, message } = outcome;
      const { error } = messageError(new Refusal(status, message), '') as {
        error: { type: string };
      };
      return failed(error.type, message);
    }
    case 'unstated':
      return failed('timeout', 'Request timeout');
    case 'expired':
      return failed('batch_expired', 'This request was not run in time.');
    case 'canceled':
      return failed('batch_cancelled', 'This request was cancelled.');
  }
}

function response(body: unknown) {
  const request_id = newId('request_');
  return { response: { status_code: 200, request_id, body }, error: null };
}

function failed(type: string, message: string) {
  return { response: null, error: { message, param: null, type } };
}
