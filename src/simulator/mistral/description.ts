import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody } from './errors.ts';
import { page } from './page.ts';
import { resultLineOf } from './result-line.ts';

/** What Mistral shares with OpenAI: its files, and how its jobs end up in them. */
export const mistralDescription: OpenAILike = {
  ...openaiDescription,
  name: 'mistral',
  // Its SDK writes /v1 itself.
  root: '',
  barePaths: [],
  filesPath: '/v1/files',
  batchesPath: '/v1/batch/jobs',
  endpoints: [
    '/v1/chat/completions',
    '/v1/embeddings',
    '/v1/fim/completions',
    '/v1/moderations',
    '/v1/chat/moderations',
    '/v1/ocr',
    '/v1/classifications',
    '/v1/chat/classifications',
    '/v1/conversations',
    '/v1/audio/transcriptions',
  ],
  statuses: {
    validating: 'QUEUED',
    in_progress: 'RUNNING',
    finalizing: 'RUNNING',
    cancelling: 'CANCELLATION_REQUESTED',
    completed: 'SUCCESS',
    failed: 'FAILED',
    expired: 'TIMEOUT_EXCEEDED',
    cancelled: 'CANCELLED',
  },
  fileIdPrefix: '',
  batchIdPrefix: '',
  requestsPerBatch: 100_000,
  bytesPerBatch: 512_000_000,
  scopeHeaders: [],
  requestIdHeader: 'mistral-correlation-id',
  errorBody,
  fileObject({ purpose, status: _, ...file }) {
    const isInput = purpose === 'batch';
    return {
      ...file,
      purpose: 'batch',
      sample_type: isInput ? 'batch_request' : 'batch_result',
      source: isInput ? 'upload' : 'mistral',
      num_lines: null,
      mimetype: 'application/jsonl',
      signature: null,
      visibility: 'workspace',
      // The SDK's `retrieve` insists on it.
      deleted: false,
    };
  },
  resultLine: resultLineOf,
  page,
};
