import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody, invalid } from '../openai-like/errors.ts';
import { jsonReply } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import { jobOf } from './job.ts';
import { resultLineOf } from './result-line.ts';
import { signedUploads } from './signed-uploads.ts';

/**
 * Together AI: files go to a signed URL, creates are answered in an envelope, states are in capitals, progress
 * is a percentage, the list of batches is a bare array, and lines that failed have no status.
 */
export const togetherDescription: OpenAILike = {
  ...openaiDescription,
  name: 'together',
  barePaths: [],
  endpoints: ['/v1/chat/completions', '/v1/audio/transcriptions', '/v1/audio/translations'],
  usualWindow: '24h',
  createFields: ['endpoint', 'input_file_id', 'completion_window', 'model_id', 'priority'],
  purpose: 'batch-api',
  bareLines: true,
  createStatus: 201,
  statuses: {
    validating: 'VALIDATING',
    in_progress: 'IN_PROGRESS',
    // The published states have no words for these two.
    finalizing: 'IN_PROGRESS',
    cancelling: 'IN_PROGRESS',
    completed: 'COMPLETED',
    failed: 'FAILED',
    expired: 'EXPIRED',
    cancelled: 'CANCELLED',
  },
  batchIdPrefix: '',
  // A cancel that comes too late gets 400, too: 409 is not among the published statuses.
  lateCancelStatus: 400,
  bytesPerBatch: 100 * 1000 * 1000,
  scopeHeaders: [],
  fileObject: ({ id, object, bytes, created_at, filename }) => ({
    id,
    object,
    bytes,
    created_at,
    filename,
    purpose: 'batch-api',
    FileType: 'jsonl',
    Processed: true,
  }),
  batchObject: jobOf,
  // Errors about batches are texts, all others are objects.
  errorBody: (refusal, path) =>
    path?.startsWith('/v1/batches') ? { error: refusal.message } : errorBody(refusal),
  created: (job) => ({ job }),
  resultLine: resultLineOf,
  page: wholeList,
  moreRoutes(parts) {
    const { like, files } = parts;
    const filesAt = `${like.root}${like.filesPath}`;
    return [
      ...signedUploads(parts),
      ['POST', `${filesAt}/upload`, files.upload],
      [
        'DELETE',
        `${filesAt}/:id`,
        (exchange, id) => {
          files.remove(exchange, id);
          return jsonReply({ id, deleted: true });
        },
      ],
      [
        'GET',
        filesAt,
        (exchange) => jsonReply({ data: JSON.parse(String(files.list(exchange).body)) }),
      ],
    ];
  },
};

/** Lists have no pages; a parameter is a client's mistake. */
function wholeList(items: readonly JsonObject[], query: URLSearchParams): unknown {
  for (const name of query.keys()) throw invalid(name, 'lists have no parameters.');
  return items;
}
