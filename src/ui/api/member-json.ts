import type { MemberSummary } from '../../ledger/ledger.ts';
import type { FoundRequest } from '../../ledger/view.ts';
import { itemId } from '../../orchestrator/model/request.ts';
import { errorText } from '../../report/text/error-text.ts';
import type { MemberJson } from '../api-types.ts';
import { wordsOf } from '../readable/readable.ts';

const longestExcerpt = 160;
/** Reading a longer text for one line of a list would take too long. */
const longestRead = 200_000;

/** A request as one line of a list. `body`: what was asked, where the ledger keeps it. */
export function memberJson(member: MemberSummary | FoundRequest, body?: string): MemberJson {
  const { request, fingerprint, occurrence, state, attempt, at, answer } = member;
  const asked = body && excerptOf('question', body);
  const excerpt =
    answer && (state === 'failed' ? errorText(answer) : excerptOf('answer', answer.body));
  return {
    request,
    occurrence,
    state,
    attempt,
    since: at,
    id: itemId(fingerprint, occurrence),
    ...(answer && { status: answer.status }),
    ...(asked && { asked }),
    ...(excerpt && { excerpt }),
  };
}

function excerptOf(kind: 'question' | 'answer', body: string): string {
  const words =
    body.length > longestRead ? body.slice(0, longestRead) : wordsOf(kind, body, 'last');
  const plain = words
    .slice(0, longestExcerpt * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return plain.length > longestExcerpt ? `${plain.slice(0, longestExcerpt - 1)}…` : plain;
}
