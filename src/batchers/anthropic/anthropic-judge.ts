import { judgeByStatus, type ReplyJudge } from '../shared/judge-reply.ts';
import { field, parseJson } from '../shared/outcomes.ts';

/** Limits that only the owner of the account can lift: waiting makes no room. */
const ownersOnly = new Set<unknown>(['enforced_spend_limit_reached', 'organization_on_hold']);

/** Anthropic names its reasons in `error.details.error_code`. */
export const judgeAnthropic: ReplyJudge = (reply) => {
  const verdict = judgeByStatus(reply);
  if (verdict.next !== 'later' || verdict.unclear) return verdict;
  const details = field(field(parseJson(reply.body), 'error'), 'details');
  return ownersOnly.has(field(details, 'error_code')) ? { ...verdict, next: 'fail' } : verdict;
};

/** "requests.3.params: …", "requests[3] is …": one of them is at fault, the others are not. */
export const judgeCreate: ReplyJudge = (reply) => {
  const verdict = judgeAnthropic(reply);
  const index = /\brequests(?:\.|\[)(\d+)\b/.exec(reply.message)?.[1];
  if (verdict.meaning !== 'refused' || verdict.next !== 'fail' || index === undefined) {
    return verdict;
  }
  return { ...verdict, next: 'isolate', lines: [Number(index) + 1] };
};
