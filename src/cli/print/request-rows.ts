import type { BatchSummary, MemberSummary } from '../../ledger/ledger.ts';
import { itemId } from '../../orchestrator/model/request.ts';
import { errorKind, errorText } from '../../report/text/error-text.ts';
import { number } from '../../report/text/summary.ts';
import { isoOf } from './batch-json.ts';
import { momentOf } from './batch-words.ts';
import type { Column } from './text-table.ts';

const words = { planned: 'waiting', answered: 'answered', failed: 'error' } as const;
const mostErrors = 10;

/** Requests that ended in the same error. */
interface ErrorGroup {
  readonly status: number;
  readonly message: string;
  count: number;
  /** One of them. */
  readonly example: string;
}

/** Counts the requests of a batch, and groups their errors. */
export class RequestTally {
  total = 0;
  readonly #states = { planned: 0, answered: 0, failed: 0 };
  readonly #errors = new Map<string, ErrorGroup>();

  add(members: readonly MemberSummary[]): void {
    for (const member of members) {
      this.total += 1;
      this.#states[member.state] += 1;
      if (member.state === 'failed' && member.answer) this.#addError(member);
    }
  }

  /** `gone`: they were taken out of the batch, for another attempt or because nobody waited. */
  counts({ count }: BatchSummary) {
    const { planned, answered, failed } = this.#states;
    return { sent: count, answered, failed, waiting: planned, gone: count - this.total };
  }

  /** The most frequent ones. */
  errors(): readonly ErrorGroup[] {
    return [...this.#errors.values()].sort((a, b) => b.count - a.count).slice(0, mostErrors);
  }

  errorLines(): string[] {
    const errors = this.errors();
    if (errors.length === 0) return [];
    return [
      '',
      'Errors',
      ...errors.map(
        ({ status, message, count, example }) =>
          `  ${number(count)} × ${status}: ${message} (for example ${example})`,
      ),
    ];
  }

  #addError(member: MemberSummary): void {
    const { status } = member.answer as NonNullable<MemberSummary['answer']>;
    const message = errorText(member.answer as NonNullable<MemberSummary['answer']>);
    const key = errorKind(status, message);
    const group = this.#errors.get(key);
    if (group) group.count += 1;
    else this.#errors.set(key, { status, message, count: 1, example: idOf(member) });
  }
}

/** The id of a request: what its line and its answer are called at the provider. */
export function idOf({ fingerprint, occurrence }: MemberSummary): string {
  return itemId(fingerprint, occurrence);
}

export const requestColumns: readonly Column[] = [
  { title: 'REQUEST', atLeast: 16 },
  { title: 'STATE' },
  { title: 'STATUS', align: 'right' },
  { title: 'TRY', align: 'right' },
  { title: 'SINCE' },
  { title: 'ERROR', atLeast: 5 },
];

export function requestRow(member: MemberSummary): string[] {
  const { state, answer, attempt, at } = member;
  const error = state === 'failed' && answer ? errorText(answer) : '';
  const status = answer ? String(answer.status) : '';
  return [idOf(member), words[state], status, String(attempt + 1), momentOf(at), error];
}

export function memberJson(member: MemberSummary): object {
  const { state, answer } = member;
  const error = state === 'failed' && answer ? { error: errorText(answer) } : {};
  return { ...memberFacts(member), ...error };
}

/** What is known of a request beside the texts. */
export function memberFacts(member: MemberSummary): object {
  const { occurrence, state, attempt, at, answer } = member;
  return {
    id: idOf(member),
    occurrence,
    state,
    attempt: attempt + 1,
    since: isoOf(at),
    ...(answer && { status: answer.status }),
  };
}
