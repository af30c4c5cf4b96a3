import { isObject, type JsonObject, parseJson } from '../../server/json.ts';
import { readLines } from '../../server/lines.ts';
import type { BatchLine } from '../../world/batches/batch.ts';
import type { BatchError } from '../../world/batches/batch-script.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import type { World } from '../../world/world.ts';
import { inputsOf } from '../answers/embeddings.ts';
import type { OpenAILike } from '../description.ts';
import { promptOf } from '../dialect.ts';
import type { OpenAIBatch } from './details.ts';

const mostErrors = 100;
const longestCustomId = 64;

interface Validated {
  lines: BatchLine[];
  model: string;
  tokens: number;
}

/** What OpenAI checks after the create was accepted, while the batch is `validating`. */
export async function validateLines(
  world: World,
  like: OpenAILike,
  { input, endpoint }: OpenAIBatch,
  models: readonly string[] | null,
): Promise<Validated | { errors: BatchError[] }> {
  const own = world.settings.limits[like.name];
  const mostRequests = own?.requestsPerBatch ?? like.requestsPerBatch;
  const mostInputs = own?.embeddingInputsPerBatch ?? like.embeddingInputsPerBatch;
  const pause = world.clock.slices();
  const errors: BatchError[] = [];
  const lines: BatchLine[] = [];
  const customIds = new Set<string>();
  let model: string | null = null;
  let tokens = 0;
  let embeddingInputs = 0;

  for (const { line, text } of readLines(input)) {
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    const read = readLine(like, text, endpoint);
    const problem =
      'code' in read
        ? read
        : (repeated(read, customIds, like.mixedLines ? null : model) ??
          refused(like, read, lines[0]));
    if (problem === null && model === null && models?.includes(modelOf(read)) === false) {
      // The error stands once, however many lines name the model: a batch has only one model.
      return { errors: [{ ...unknownModel(modelOf(read)), line }] };
    }
    if (problem !== null) {
      errors.push({ ...problem, line });
      if (errors.length >= mostErrors) break;
      continue;
    }
    const { customId, body, endpoint: asked } = read as BatchLine;
    customIds.add(customId);
    model ??= String(body.model);
    tokens += estimateTokens(body);
    if (endpoint === '/v1/embeddings') embeddingInputs += inputsOf(body.input).length;
    lines.push({ customId, endpoint: asked, body });
    if (lines.length > mostRequests) return { errors: [tooMany(mostRequests, 'requests')] };
    if (embeddingInputs > mostInputs) return { errors: [tooMany(mostInputs, 'inputs')] };
  }
  if (errors.length > 0) return { errors };
  if (model === null) return { errors: [wholeFile('empty_file', 'The input file is empty.')] };
  return { lines, model, tokens };
}

/** A line of an input file on its own, for a batch with this endpoint. */
export function readLine(
  { bareLines, lineEndpoint = sameEndpoint, answersAs }: OpenAILike,
  text: string,
  endpoint: string,
): BatchLine | BatchError {
  const value = parseJson(text);
  if (!isObject(value)) {
    return { code: 'invalid_json_line', message: 'This line is not parseable as valid JSON.' };
  }
  const { custom_id: customId, method, url, body } = value;
  if (typeof customId !== 'string' || customId === '') return missing('custom_id');
  if (customId.length > longestCustomId) {
    const message = `A custom_id may have at most ${longestCustomId} characters.`;
    return { code: 'invalid_custom_id', message, param: 'custom_id' };
  }
  if (!isObject(body)) return missing('body');
  if (method === undefined && !bareLines) return missing('method');
  if (url === undefined && !bareLines) return missing('url');
  if (method !== undefined && method !== 'POST') {
    return { code: 'invalid_method', message: `Invalid method '${method}'.`, param: 'method' };
  }
  const asked = lineEndpoint(String(url ?? endpoint), endpoint);
  if (asked === undefined) {
    const message = `The URL provided for this request does not match the batch endpoint.`;
    return { code: 'url_mismatch', message, param: 'url' };
  }
  if (typeof body.model !== 'string') return missing('body.model');
  const answered = answersAs?.(asked) ?? asked;
  if (promptOf(answered, body).includes('[[invalid]]')) {
    return { code: 'invalid_request', message: 'This line is marked as invalid.', param: 'body' };
  }
  return { customId, endpoint: answered, body };
}

function sameEndpoint(url: string, endpoint: string): string | undefined {
  return url === endpoint ? endpoint : undefined;
}

function repeated(
  { customId, body }: { customId: string; body: JsonObject },
  customIds: Set<string>,
  model: string | null,
): BatchError | null {
  if (customIds.has(customId)) {
    const message = `The custom_id '${customId}' is used by another request of the batch.`;
    return { code: 'duplicate_custom_id', message, param: 'custom_id' };
  }
  if (model !== null && body.model !== model) {
    const message = `All requests of a batch must use the same model; the first uses ${model}.`;
    return { code: 'model_mismatch', message, param: 'body.model' };
  }
  return null;
}

function refused({ refuses }: OpenAILike, { body }: BatchLine, first?: BatchLine) {
  const message = refuses?.(body, first?.body ?? body);
  return message === undefined ? null : { code: 'invalid_request', message, param: 'body' };
}

function modelOf(read: BatchLine | BatchError): string {
  return 'body' in read ? String(read.body.model) : '';
}

function unknownModel(model: string): BatchError {
  const message = `The provided model '${model}' is not supported by the Batch API.`;
  return { code: 'model_not_found', message, param: 'body.model' };
}

function missing(param: string): BatchError {
  const message = `Missing required parameter: '${param}'.`;
  return { code: 'missing_required_parameter', message, param };
}

function tooMany(limit: number, what: string): BatchError {
  return wholeFile('too_many_tasks', `The limit is ${limit} ${what}.`);
}

function wholeFile(code: string, message: string): BatchError {
  return { code, message, line: null, param: null };
}
