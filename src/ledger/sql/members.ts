import type { Answer } from '../../base/types.ts';
import type { Member, MemberPage, MemberSummary } from '../ledger.ts';
import { REQUEST, requestState } from './codes.ts';

/** A member of a batch, as `MEMBER_COLUMNS` select it. */
export interface MemberRow extends Omit<Member, 'settled'> {
  readonly state: number;
  readonly at: number;
  readonly seq: number;
}

export const MEMBER_COLUMNS =
  'id AS request, fp AS fingerprint, occ AS occurrence, attempt, state, at, seq';

export function memberOf({ state, at: _, seq: __, ...rest }: MemberRow): Member {
  return { ...rest, settled: state !== REQUEST.planned };
}

/** `rows`: one more than the page has, if there are more. */
export function memberPage<Row extends MemberRow>(
  rows: readonly Row[],
  limit: number,
  answerOf: (row: Row) => Answer | undefined,
): MemberPage {
  const members = rows.slice(0, limit).map((row): MemberSummary => {
    const { request, fingerprint, occurrence, attempt, at } = row;
    const answer = answerOf(row);
    return {
      request,
      fingerprint,
      occurrence,
      attempt,
      at,
      state: requestState(row.state) as MemberSummary['state'],
      ...(answer && { answer }),
    };
  });
  const next = rows[limit]?.seq;
  return { members, ...(next !== undefined && { next }) };
}
