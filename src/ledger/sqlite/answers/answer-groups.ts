import type { Answer } from '../../../types.ts';
import type { RequestId, Settlement } from '../../ledger.ts';
import { REQUEST } from '../schema/codes.ts';
import { ANSWERS_PER_BLOCK, CHARACTERS_PER_BLOCK } from './answers.ts';

export type Answered = Extract<Settlement, { is: 'answer' }>;

/** Answers that go into one block. */
export interface AnswerGroup {
  readonly requests: RequestId[];
  readonly answers: [Answer, ...Answer[]];
  characters: number;
}

/**
 * Answers come in any order. Sorted, those of a block were asked for at about the same time: they are
 * read together by a run that asks again, and old ones leave together. Of two answers to one request
 * the first one counts.
 */
export function groupsOf(settlements: readonly Answered[]): AnswerGroup[] {
  const groups: AnswerGroup[] = [];
  const open = new Map<number, AnswerGroup>();
  let last: RequestId | undefined;
  for (const { request, answer } of [...settlements].sort(byRequest)) {
    if (request === last) continue;
    last = request;
    const size = answer.body.length;
    const group = open.get(answer.status);
    const isFull =
      group === undefined ||
      group.requests.length >= ANSWERS_PER_BLOCK ||
      group.characters + size > CHARACTERS_PER_BLOCK;
    if (isFull) {
      const next: AnswerGroup = { requests: [request], answers: [answer], characters: size };
      open.set(answer.status, next);
      groups.push(next);
    } else {
      group.requests.push(request);
      group.answers.push(answer);
      group.characters += size;
    }
  }
  return groups;
}

function byRequest(one: Answered, other: Answered): number {
  return one.request - other.request;
}

/** What becomes of the requests of a group. */
export function stateOf({ answers: [{ status }] }: AnswerGroup): number {
  return status >= 200 && status < 300 ? REQUEST.answered : REQUEST.failed;
}
