import { type ContentsReader, type ContentsWriter, tableNames } from './contents.ts';

export interface Copied {
  readonly batches: number;
  /** Batches that are not over. */
  readonly open: number;
  readonly requests: number;
  readonly answers: number;
}

const FIRST_STATE_THAT_IS_OVER = 5;

/** Copies page by page: a ledger may hold more than fits into memory. */
export async function copyContents(
  from: ContentsReader,
  to: ContentsWriter,
  onProgress: (requests: number) => void,
): Promise<Copied> {
  const copied = { batches: 0, open: 0, requests: 0, answers: 0 };
  await to.salt(from.salt);
  for (const table of tableNames) {
    for await (const rows of from.rows(table)) {
      await to.rows(table, rows);
      if (table !== 'batch') continue;
      copied.batches += rows.length;
      copied.open += rows.filter(({ state }) => Number(state) < FIRST_STATE_THAT_IS_OVER).length;
    }
  }
  for await (const requests of from.requests()) {
    await to.requests(requests);
    copied.requests += requests.length;
    copied.answers += requests.filter(({ answer }) => answer !== undefined).length;
    onProgress(copied.requests);
  }
  await to.finish();
  return copied;
}
