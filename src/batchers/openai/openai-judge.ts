import { field, parseJson } from '../../base/json.ts';
import { judgeByStatus, type ReplyJudge } from '../shared/judge-reply.ts';

/** Limits that only the owner of the account can lift: waiting makes no room. */
const ownersOnly = new Set<unknown>([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'credit_balance_exhausted',
]);

/** `project_spend_limit_exceeded`, `organization_usage_limit_exceeded` and others of their kind. */
const spentLimit = /_(spend|usage)_limit_exceeded$/;

/** OpenAI names its reasons in `error.code` and `error.type`. */
export const judgeOpenAI: ReplyJudge = (reply) => {
  const verdict = judgeByStatus(reply);
  if (verdict.next !== 'later' || verdict.unclear) return verdict;
  const error = field(parseJson(reply.body), 'error');
  const words = [field(error, 'code'), field(error, 'type')];
  const isForOwner = words.some((word) => ownersOnly.has(word) || spentLimit.test(String(word)));
  return isForOwner ? { ...verdict, next: 'fail' } : verdict;
};

/** A fresh file is known everywhere at the provider after a second or so; this leaves room. */
const longestWaitForFile = 60_000;

/**
 * "No such File object: file-…": a create that comes right after its upload may be too early. Nothing was
 * accepted, so it is tried again for a minute. A file that is still unknown then is gone.
 */
export function judgeCreate(judge: ReplyJudge): ReplyJudge {
  return (reply) => {
    const isUnknown = reply.status === 404 || reply.status === 400;
    const isFile = /\bno such file\b|\bfile\b.*\bnot (found|exist)\b/i.test(reply.message);
    if (!isUnknown || !isFile) return judge(reply);
    return { ...judge(reply), next: 'later', within: longestWaitForFile };
  };
}
