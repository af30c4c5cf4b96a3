import { field, fields, parseJson, text } from '../../base/json.ts';
import type { Limits } from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import { judgeOpenAI } from '../openai/openai-judge.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import type { BatchList } from '../shared/batch-list.ts';
import type { FailedReply, ReplyJudge, ReplyVerdict } from '../shared/judge-reply.ts';
import { type ListPage, listPage } from '../shared/reply-shapes.ts';
import { daysUpTo } from '../shared/windows.ts';
import { groqInfo } from './groq-info.ts';
import { groqNotes } from './groq-notes.ts';

const day = 86_400_000;
const hour = 3_600_000;

/**
 * Groq's batches: OpenAI's behind another path, with windows of up to a week, and up to 200 batches shown
 * in one request.
 *
 * @example
 * await batchify(askAll, { completionWindow: '7d', only: 'groq' });
 */
export class GroqBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = groqInfo;
  override readonly notes: ProviderNotes = groqNotes;
  protected override readonly judge: ReplyJudge = judgeGroq;

  /** Its list has a cursor and pages of its own size. */
  protected override get batchList(): BatchList {
    return {
      ...super.batchList,
      limit: null,
      after: 'cursor',
      named: { parameter: 'id', most: 200 },
      readPage,
    };
  }

  override limits(): Limits {
    return {
      items: 50_000,
      // Groq asks for small batches: they are likelier to be done in time.
      recommendedItems: 1_000,
      // 200 MB by the guide, 100 MB by the SDK.
      bytes: 95_000_000,
      itemBytes: 95_000_000,
      inFlight: 64,
      windows: daysUpTo(7, (days) => (days === 1 ? '24h' : `${days}d`)),
      // Groq says so: all of a batch costs half, "regardless of cache status".
      cachedInput: 'uncached',
      pollMinimum: 0,
      outlives: 7 * day + 4 * hour,
    };
  }
}

function readPage(body: unknown): ListPage {
  const { batches } = listPage({ data: field(body, 'data') });
  return { batches, next: text(field(field(body, 'paging'), 'next_cursor')) };
}

/** A 403 may be about the plan instead of the key: without a paid one there are no batches. */
function judgeGroq(reply: FailedReply): ReplyVerdict {
  const { code, type } = fields(field(parseJson(reply.body), 'error'));
  const isPlan = code === 'not_available_for_plan' || type === 'not_available_for_plan';
  return isPlan ? { meaning: 'refused', next: 'fail' } : judgeOpenAI(reply);
}
