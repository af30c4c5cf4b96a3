import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject, parseJson } from '../server/json.ts';
import { readLines } from '../server/lines.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';
import { noKey } from './details.ts';
import { demandKnown } from './errors.ts';

export interface CheckedCreate {
  displayName: string;
  /** `files/…`, or the requests themselves. */
  input: { fileName: string } | { requests: readonly JsonObject[] };
}

/** The envelope of a create; names may be written in either style. */
export function checkCreate(body: JsonObject, isEmbedding: boolean): CheckedCreate {
  demandKnown(body, ['batch'], '');
  const { batch } = body;
  if (!isObject(batch)) throw new Refusal(400, 'batch is not specified');
  const { display_name, input_config, ...camel } = batch;
  const given: JsonObject = { displayName: display_name, inputConfig: input_config, ...camel };
  demandKnown(
    given,
    ['displayName', 'inputConfig', 'model', 'name', 'priority', 'webhookConfig'],
    'batch',
  );
  const { displayName, inputConfig } = given;
  if (typeof displayName !== 'string' && !isEmbedding) {
    throw new Refusal(400, '* GenerateContentBatch.display_name: is required');
  }
  if (!isObject(inputConfig)) throw new Refusal(400, 'batch.input_config is not specified');
  return { displayName: String(displayName ?? ''), input: inputOf(inputConfig) };
}

function inputOf(config: JsonObject): CheckedCreate['input'] {
  demandKnown(config, ['fileName', 'file_name', 'requests'], 'batch.input_config');
  const fileName = config.fileName ?? config.file_name;
  const { requests: wrapper } = config;
  if (typeof fileName === 'string' && wrapper === undefined) return { fileName };
  if (fileName !== undefined || !isObject(wrapper)) {
    throw new Refusal(400, 'batch.input_config needs one of file_name and requests');
  }
  demandKnown(wrapper, ['requests'], 'batch.input_config.requests');
  const { requests } = wrapper;
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject)) {
    throw new Refusal(400, 'batch.input_config.requests.requests is empty');
  }
  return { requests };
}

/** The requests of a create that holds them all. */
export function inlinedLines(requests: readonly JsonObject[], endpoint: string): BatchLine[] {
  return requests.map((item, index) => {
    const at = `batch.input_config.requests.requests[${index}]`;
    demandKnown(item, ['request', 'metadata'], at);
    const { request, metadata } = item;
    if (!isObject(request)) throw new Refusal(400, `${at}.request is not specified`);
    const key = isObject(metadata) ? metadata.key : undefined;
    if (metadata !== undefined && typeof key !== 'string') {
      throw new Refusal(400, `${at}.metadata.key must be a string`);
    }
    return { customId: String(key ?? noKey), endpoint, body: request };
  });
}

/** The lines of an input file, or what is wrong with one of them. */
export function fileLines(chunks: readonly Buffer[], endpoint: string): BatchLine[] | BatchError {
  const lines: BatchLine[] = [];
  for (const { line, text } of readLines(chunks)) {
    const read = readLine(text, endpoint);
    if (typeof read === 'string') return { code: 'invalid', message: `Line ${line}: ${read}` };
    lines.push(read);
  }
  return lines.length > 0 ? lines : { code: 'invalid', message: 'The input file is empty.' };
}

function readLine(text: string, endpoint: string): BatchLine | string {
  const value = parseJson(text);
  if (!isObject(value)) return 'not a JSON object.';
  const { key, request, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `Unknown name "${unknown}": Cannot find field.`;
  if (!isObject(request)) return 'request is not specified.';
  if (key !== undefined && typeof key !== 'string') return 'key must be a string.';
  return { customId: key ?? noKey, endpoint, body: request };
}
