import { isMissing } from '../base/is-missing.ts';
import { isDatabase } from '../base/store-address.ts';
import type { ContentsReader, ContentsWriter } from './copy/contents.ts';
import type { LedgerOptions } from './ledger-options.ts';

/** The contents of a ledger, at a path or in a database. `undefined`: there is none. */
export async function openReader(
  store: string,
  warn?: LedgerOptions['warn'],
): Promise<ContentsReader | undefined> {
  if (isDatabase(store)) {
    const { readPostgresContents } = await import('./postgres/copy/read-contents.ts');
    return readPostgresContents(store);
  }
  if (isMissing(store)) return undefined;
  const { readSqliteContents } = await import('./sqlite/copy/read-contents.ts');
  return readSqliteContents(store, warn);
}

/** A place for the contents of a ledger. Throws where a ledger is that is not empty. */
export async function openWriter(store: string): Promise<ContentsWriter> {
  if (isDatabase(store)) {
    const { writePostgresContents } = await import('./postgres/copy/write-contents.ts');
    return writePostgresContents(store);
  }
  const { writeSqliteContents } = await import('./sqlite/copy/write-contents.ts');
  return writeSqliteContents(store);
}
