import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody } from '../openai-like/errors.ts';
import { pageAfterId } from '../openai-like/page.ts';

/**
 * OpenAI itself, to be spread and changed for services that copy it.
 *
 * @example
 * ```ts
 * const mine = { ...openaiDescription, name: 'mine', windows: ['24h', '7d'] };
 * ```
 */
export const openaiDescription: OpenAILike = {
  name: 'openai',
  root: '/v1',
  barePaths: ['/v1'],
  filesPath: '/files',
  batchesPath: '/batches',
  endpoints: [
    '/v1/responses',
    '/v1/chat/completions',
    '/v1/embeddings',
    '/v1/completions',
    '/v1/moderations',
    '/v1/images/generations',
    '/v1/images/edits',
    '/v1/videos',
  ],
  windows: ['24h'],
  createFields: [
    'input_file_id',
    'endpoint',
    'completion_window',
    'metadata',
    'output_expires_after',
  ],
  purpose: 'batch',
  bareLines: false,
  uploadStatus: 200,
  createStatus: 200,
  statuses: {},
  fileIdPrefix: 'file-',
  batchIdPrefix: 'batch_',
  requestsPerBatch: 50_000,
  bytesPerBatch: 200 * 1024 * 1024,
  embeddingInputsPerBatch: 50_000,
  keyHeaders: [],
  scopeHeaders: ['openai-organization', 'openai-project'],
  requestIdHeader: 'x-request-id',
  errorBody,
  fileObject: (file) => file,
  batchObject: (batch) => batch,
  created: (batch) => batch,
  resultLine: (line) => line,
  page: pageAfterId,
};
