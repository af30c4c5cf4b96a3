import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { pageAfterId } from '../openai-like/page.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import { deleteBatch } from './delete-batch.ts';
import { failedLine } from './failed-line.ts';
import { readContent } from './read-content.ts';
import { checkedUpload } from './upload.ts';

/** Keys of metadata that belong to the server; what a client puts there is dropped. */
const reserved = new Set([
  'created_by',
  'created_by_email',
  'context_name',
  'context_type',
  'request_source',
  'dw_user_agent',
]);

const endpoints = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/responses'];

/** Doubleword: lines are checked at the upload, and results can be read while a batch runs. */
export const doublewordDescription: OpenAILike = {
  ...openaiDescription,
  name: 'doubleword',
  barePaths: [],
  endpoints,
  windows: ['24h', '1h'],
  uploadStatus: 201,
  createStatus: 201,
  mixedLines: true,
  lineEndpoint: (url) => endpoints.find((endpoint) => endpoint === url),
  earlyResults: true,
  batchIdPrefix: '',
  fileIdPrefix: '',
  scopeHeaders: [],
  batchObject: ({ model: _model, usage: _usage, ...batch }) => ({
    ...batch,
    ...(allFailed(batch) && { status: 'failed', failed_at: batch.completed_at }),
    metadata: withoutReserved(batch.metadata),
  }),
  resultLine: failedLine,
  page(items, query, sizes) {
    const search = query.get('search')?.toLowerCase() ?? '';
    const texts = ({ id, metadata }: JsonObject) => JSON.stringify([id, metadata]).toLowerCase();
    return pageAfterId(
      items.filter((item) => texts(item).includes(search)),
      query,
      sizes,
    );
  },
  moreRoutes: (parts) => {
    const { root, filesPath, batchesPath } = parts.like;
    return [
      ['POST', `${root}${filesPath}`, checkedUpload(parts)],
      ['GET', `${root}${filesPath}/:id/content`, readContent(parts)],
      ['DELETE', `${root}${batchesPath}/:id`, deleteBatch(parts)],
    ];
  },
};

/** A batch of failed lines only has failed, though each of them can be read. */
function allFailed({ status, request_counts: counts }: JsonObject): boolean {
  if (status !== 'completed' || !isObject(counts)) return false;
  return counts.completed === 0 && counts.failed === counts.total;
}

function withoutReserved(metadata: unknown): JsonObject | null {
  if (!isObject(metadata)) return null;
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !reserved.has(key)));
}
