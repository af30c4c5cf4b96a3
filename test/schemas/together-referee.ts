import { expect } from 'vitest';
import type { Recorded } from '../support/servers/recording-proxy.ts';
import { type PublishedDocument, readDocument } from './document.ts';
import { createReferee } from './referee.ts';

const root = '/together/v1';
const referee = createReferee(mended(readDocument('together')), root);

/**
 * Where the document is behind the service. `together-ai` 0.52.0 is made from a newer one: three endpoints by
 * name, no `LineCount`, a `processing_status`. And the content of a file is its bytes, whatever is published.
 */
function mended({ paths, components }: PublishedDocument): PublishedDocument {
  const { FileResponse: file, CreateBatchRequest: create } = components.schemas;
  const endpoints = ['/v1/chat/completions', '/v1/audio/transcriptions', '/v1/audio/translations'];
  const states = ['PENDING', 'QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'INVALID_FORMAT'];
  const content = paths['/files/{id}/content']?.get;
  const bytes = { schema: { type: 'string' } };
  const anyBytes = { 'application/octet-stream': bytes, 'application/x-ndjson': bytes };
  return {
    paths: {
      ...paths,
      '/files/{id}/content': {
        get: { ...content, responses: { ...content?.responses, 200: { content: anyBytes } } },
      },
    },
    components: {
      schemas: {
        ...components.schemas,
        CreateBatchRequest: {
          ...create,
          properties: { ...create?.properties, endpoint: { type: 'string', enum: endpoints } },
        },
        FileResponse: {
          ...file,
          properties: {
            ...file?.properties,
            object: { type: 'string', enum: ['file'] },
            processing_status: { type: 'string', enum: states },
            validation_report: {},
          },
          required: file?.required?.filter((name) => name !== 'LineCount') ?? [],
        },
      },
    },
  };
}

/**
 * Together's SDKs upload in two steps, `POST /files` without a file and a PUT to the address in the redirect.
 * Nothing is published about them.
 */
export function isUnpublished({ method, path }: Recorded): boolean {
  const [place] = path.split('?');
  return (method === 'POST' && place === `${root}/files`) || method === 'PUT';
}

/** What Together's published schema has against this traffic. */
export async function togetherFaults(exchanges: readonly Recorded[]): Promise<readonly string[]> {
  const published = exchanges.filter((exchange) => !isUnpublished(exchange));
  return (await Promise.all(published.map((exchange) => referee.judge(exchange)))).flat();
}

/**
 * Checks one body: of a request, `'POST /batches'`, or of the reply with a status, `'POST /batches 201'`. The
 * answer in a result line is a `'ChatCompletionResponse'`.
 */
export function expectTogetherShape(operation: string, body: unknown): void {
  const [method = '', path, status] = operation.split(' ');
  const faults =
    path === undefined
      ? referee.faultsOf(method, body)
      : referee.bodyFaults(method, path, body, status === undefined ? status : Number(status));
  expect(faults).toEqual([]);
}
