import type { Call, Limits } from '../batcher.ts';
import { qianfanInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import { judgeOpenAI } from '../openai/openai-judge.ts';
import type { StatusWords } from '../openai/openai-remote.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import type { FailedReply, ReplyJudge, ReplyVerdict } from '../shared/judge-reply.ts';
import { daysUpTo } from '../shared/windows.ts';

const day = 86_400_000;
const priceShare = 0.4;

/**
 * Qianfan's batches: OpenAI's under `/v2`, with words of their own for their states.
 *
 * @example
 * await batchify(askAll, { completionWindow: '6h', only: 'qianfan' });
 */
export class QianfanBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = qianfanInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    items: 5_000,
    recommendedItems: 5_000,
    bytes: 950_000_000,
    itemBytes: 950_000_000,
    inFlight: 20,
    windows: { ...hours, ...daysUpTo(28, (days) => `${days * 24}h`, priceShare) },
    outlives: 29 * day,
  };
  protected override readonly judge: ReplyJudge = judgeQianfan;
  protected override readonly statuses: StatusWords = {
    queuing: 'validating',
    running: 'in_progress',
    stopping: 'cancelling',
    done: 'completed',
    stopped: 'cancelled',
  };

  protected override endpointOf({ path }: Call): string {
    return `/v2${path}`;
  }
}

const hours = Object.fromEntries(
  [1, 2, 3, 6, 12].map((length) => [`${length}h`, { word: `${length}h`, priceShare }]),
);

/** "TaskRunningNumberExceedLimit": 20 tasks are open, by this program or another. */
function judgeQianfan(reply: FailedReply): ReplyVerdict {
  if (/\bTask\w*NumberExceed\w*Limit\b/.test(reply.body)) return { meaning: 'full', next: 'later' };
  return judgeOpenAI(reply);
}

const notes: ProviderNotes = {
  title: 'Baidu Qianfan',
  foundBy: 'its input file',
  remarks: [
    'A batch holds at most 5,000 requests, and an account has at most 20 batches under way.',
    '`completionWindow` may be 1h, 2h, 3h, 6h, 12h, or a whole number of days up to 28d.',
    'Qianfan keeps files in the object storage of the account (BOS), which has to be switched on there first.',
    'Images can be batched at Qianfan, but not by batchling yet.',
  ],
  unconfirmed: [
    'What a line of the results looks like: batchling reads those of OpenAI.',
    'Which status refuses a batch too many: batchling knows it by `TaskRunningNumberExceedLimit` as well as by 429.',
    'Whether a task that has expired keeps finished answers: batchling reads what it shows.',
  ],
};
