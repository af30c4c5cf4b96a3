import type { Recorded } from '../support/servers/recording-proxy.ts';
import { type PublishedDocument, readDocument } from './document.ts';
import { formFields } from './form.ts';
import type { Schema } from './json-schema.ts';
import { createReferee } from './referee.ts';

/** The schema of an answer, by the endpoint of its batch. */
const answers: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'CreateChatCompletionResponse',
  '/v1/responses': 'Response',
  '/v1/embeddings': 'CreateEmbeddingResponse',
  '/v1/completions': 'CreateCompletionResponse',
  '/v1/moderations': 'CreateModerationResponse',
  '/v1/images/generations': 'ImagesResponse',
  '/v1/images/edits': 'ImagesResponse',
};

const root = '/openai/v1';
const anyObject: Schema = { type: 'object' };
const operations = createReferee(withStore(readDocument('openai')), root);
const lines = createReferee(withWholeLines(readDocument('openai-lines')));

/** A Response has no `store` in the schema, and has one in each of the document's own examples. */
function withStore({ paths, components }: PublishedDocument): PublishedDocument {
  const { ResponseProperties: properties, ...others } = components.schemas;
  const store = { properties: { ...properties?.properties, store: {} } };
  const schemas = { ...others, ResponseProperties: { ...properties, ...store } };
  return { paths, components: { schemas } };
}

/**
 * The published lines require nothing, and that of an input file lacks `body`. The examples beside them have
 * all four fields, always.
 */
function withWholeLines({ paths, components }: PublishedDocument): PublishedDocument {
  const { BatchRequestInput: input, BatchRequestOutput: output } = components.schemas;
  const { response, error } = output?.properties ?? {};
  const schemas = {
    BatchRequestInput: whole({ ...input, properties: { ...input?.properties, body: anyObject } }),
    BatchRequestOutput: whole({
      ...output,
      properties: { ...output?.properties, response: whole(response), error: whole(error) },
    }),
  };
  return { paths, components: { schemas } };
}

function whole(schema: Schema = {}): Schema {
  return { ...schema, required: Object.keys(schema.properties ?? {}) };
}

/** What OpenAI's published schemas have against this traffic, the lines of its files included. */
export async function openaiFaults(exchanges: readonly Recorded[]): Promise<readonly string[]> {
  const faults: string[] = [];
  const endpoints = endpointsOfFiles(exchanges);
  for (const exchange of exchanges) {
    faults.push(...(await operations.judge(exchange)));
    faults.push(...(await uploadedFaults(exchange)));
    faults.push(...resultFaults(exchange, endpoints));
  }
  return faults;
}

async function uploadedFaults({ method, path, type = '', body }: Recorded): Promise<string[]> {
  if (method !== 'POST' || path !== `${root}/files`) return [];
  const { file } = (await formFields(type, Buffer.from(body))) as { file: string };
  return jsonLines(file).flatMap((line) =>
    lines.faultsOf('BatchRequestInput', line).map((fault) => `a line of the input file: ${fault}`),
  );
}

function resultFaults({ path, reply }: Recorded, endpoints: ReadonlyMap<string, string>): string[] {
  const [, file] = /\/files\/([^/]+)\/content$/.exec(path) ?? [];
  const endpoint = endpoints.get(file ?? '');
  if (endpoint === undefined || reply?.status !== 200) return [];
  return jsonLines(reply.body).flatMap((line) => {
    const faults = lines.faultsOf('BatchRequestOutput', line).map((fault) => `its line: ${fault}`);
    return [...faults, ...answerFaults(endpoint, line)].map(
      (fault) => `a result of ${endpoint}, ${fault}`,
    );
  });
}

interface ResultLine {
  readonly response: { readonly status_code: number; readonly body: unknown } | null;
}

function answerFaults(endpoint: string, { response }: ResultLine): string[] {
  if (response === null) return [];
  const isAnswer = response.status_code === 200;
  const schema = isAnswer ? (answers[endpoint] ?? endpoint) : 'ErrorResponse';
  return operations.faultsOf(schema, response.body).map((fault) => `its ${schema}: ${fault}`);
}

/** The endpoint of the batch that each result file belongs to. */
function endpointsOfFiles(exchanges: readonly Recorded[]): ReadonlyMap<string, string> {
  const endpoints = new Map<string, string>();
  for (const { path, reply } of exchanges) {
    if (!path.startsWith(`${root}/batches`) || reply?.status !== 200) continue;
    const body = JSON.parse(reply.body);
    for (const batch of body.data ?? [body]) {
      endpoints.set(batch.output_file_id, batch.endpoint);
      endpoints.set(batch.error_file_id, batch.endpoint);
    }
  }
  return endpoints;
}

function jsonLines(text: string): ResultLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
