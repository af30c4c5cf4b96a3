import { field, parseJson } from '../../base/json.ts';
import { judgeByStatus, judgePlace, type ReplyJudge } from '../shared/judge-reply.ts';

/** Google's refusals. A 429 names no time to come back at: there is room when batches have ended. */
export const judgeGoogle: ReplyJudge = (reply) => {
  const { status, message } = reply;
  if (status === 400 && isAboutKey(reply.body)) return { meaning: 'denied', next: 'fail' };
  // A file that does not exist is told like one of somebody else. A batch is not: it may be paid for.
  if (status === 403 && /\bfile\b.*\bmay not exist\b/i.test(message))
    return { meaning: 'gone', next: 'fail' };
  // A method that is not implemented will not be at the next attempt either.
  if (status === 501) return { meaning: 'refused', next: 'fail' };
  return judgeByStatus(reply);
};

/** A wrong key is answered with 400. */
function isAboutKey(body: string): boolean {
  const details = field(field(parseJson(body), 'error'), 'details');
  const isAboutKey = (detail: unknown) => /^API_KEY_/.test(String(field(detail, 'reason')));
  return Array.isArray(details) && details.some(isAboutKey);
}

/**
 * Judges replies to requests that make a file or a batch. "Not found" in Google's own shape may be about the
 * model; a server that answers in another shape has no batches.
 */
export const judgeCreation: ReplyJudge = (reply) => {
  const isGoogleError = Number.isInteger(field(field(parseJson(reply.body), 'error'), 'code'));
  return isGoogleError ? judgeGoogle(reply) : judgePlace(judgeGoogle)(reply);
};

/** A session may end before its upload does. Nothing was stored, so the upload begins again. */
export function judgeSession(judge: ReplyJudge): ReplyJudge {
  return (reply) => {
    const verdict = judge(reply);
    return verdict.meaning === 'gone' ? { meaning: 'busy', next: 'later' } : verdict;
  };
}

/** A fresh file is known everywhere after a moment; this leaves room. */
const longestWaitForFile = 60_000;

/**
 * A create that comes right after its upload may be too early. Nothing was accepted, so it is tried again
 * for a minute.
 */
export const judgeCreate: ReplyJudge = (reply) => {
  const verdict = judgeCreation(reply);
  const isRefused = [400, 403, 404].includes(reply.status) && verdict.meaning !== 'denied';
  const isFile = /\bfile\b.*\b(not found|not exist|not in an active state)/i.test(reply.message);
  if (!isRefused || !isFile) return verdict;
  return { meaning: 'gone', next: 'later', within: longestWaitForFile };
};
