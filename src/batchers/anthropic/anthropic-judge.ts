import { field, parseJson } from '../../base/json.ts';
import { judgeByStatus, type ReplyJudge } from '../shared/judge-reply.ts';
import { judgeNamedRequest } from '../shared/named-request.ts';

/** Limits that only the owner of the account can lift: waiting makes no room. */
const ownersOnly = new Set<unknown>(['enforced_spend_limit_reached', 'organization_on_hold']);

/** Anthropic names its reasons in `error.details.error_code`. */
export const judgeAnthropic: ReplyJudge = (reply) => {
  const verdict = judgeByStatus(reply);
  if (verdict.next !== 'later' || verdict.unclear) return verdict;
  const details = field(field(parseJson(reply.body), 'error'), 'details');
  return ownersOnly.has(field(details, 'error_code')) ? { ...verdict, next: 'fail' } : verdict;
};

export const judgeCreate: ReplyJudge = judgeNamedRequest(judgeAnthropic);
