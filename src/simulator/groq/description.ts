import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { invalid } from '../openai-like/errors.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import { groqTiers } from './tiers.ts';

const hours = Array.from({ length: 6 * 24 + 1 }, (_, index) => `${24 + index}h`);
const days = ['1d', '2d', '3d', '4d', '5d', '6d', '7d'];
const pageSize = 20;
const mostNamed = 200;

/** Groq: everything behind `/openai`, which lines and creates leave out. */
export const groqDescription: OpenAILike = {
  ...openaiDescription,
  name: 'groq',
  root: '/openai/v1',
  barePaths: [],
  endpoints: ['/v1/chat/completions'],
  windows: [...hours, ...days],
  createFields: ['input_file_id', 'endpoint', 'completion_window', 'metadata'],
  fileIdPrefix: 'file_',
  bytesPerBatch: 100_000_000,
  scopeHeaders: [],
  tiers: groqTiers,
  usage: (told) => ({
    queue_time: 0.01,
    ...told,
    prompt_time: 0.01,
    completion_time: 0.1,
    total_time: 0.11,
  }),
  batchObject: ({ model: _model, usage: _usage, ...batch }) => ({
    ...batch,
    errors: isObject(batch.errors) ? batch.errors.data : null,
  }),
  page(items, query) {
    for (const name of query.keys()) {
      if (name !== 'id' && name !== 'cursor') throw invalid(name, 'is no parameter of this list.');
    }
    const named = query.getAll('id');
    if (named.length > 0) return { object: 'list', data: pick(items, named), paging: {} };
    const start = Number(query.get('cursor')?.slice('cursor_'.length) ?? 0);
    const end = start + pageSize;
    const next = end < items.length ? `cursor_${end}` : null;
    return { object: 'list', data: items.slice(start, end), paging: { next_cursor: next } };
  },
};

function pick(items: readonly JsonObject[], ids: readonly string[]): JsonObject[] {
  if (ids.length > mostNamed) throw invalid('id', `at most ${mostNamed} batches can be named.`);
  return items.filter(({ id }) => ids.includes(String(id)));
}
