import type { Ledger, MemberSummary } from '../../ledger/ledger.ts';

/** Few enough that their answers fit into memory. */
const pageSize = 200;

/** The members of a batch, page by page. */
export async function* memberPages(
  ledger: Ledger,
  token: string,
): AsyncGenerator<readonly MemberSummary[]> {
  for (let from: number | undefined = 0; from !== undefined; ) {
    const { members, next } = await ledger.members(token, { from, limit: pageSize });
    yield members;
    from = next;
  }
}
