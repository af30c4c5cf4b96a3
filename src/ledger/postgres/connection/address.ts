import { BatchlingError } from '../../../errors.ts';
import { defaultSchema, shownStore } from '../../../store-address.ts';

/** Where a ledger is, as the text of the option `store` says. */
export interface Address {
  /** For the driver; it may hold a password. */
  readonly url: string;
  readonly schema: string;
  /** For people: without user, password and settings. */
  readonly shown: string;
}

/** Names that need no quotes and no escapes. One more byte is cut off by the server. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

export function parseAddress(store: string): Address {
  const url = parsed(store);
  const schema = url.searchParams.get('schema') ?? defaultSchema;
  if (!SCHEMA_NAME.test(schema) || schema.startsWith('pg_')) {
    throw refused(
      'its schema has to be a name of lower-case letters, digits and "_", such as ?schema=batchling',
    );
  }
  url.searchParams.delete('schema');
  return { url: url.href, schema, shown: shownStore(store) };
}

function parsed(store: string): URL {
  try {
    return new URL(store);
  } catch {
    // The error of `URL` holds the text, and with it the password.
    throw refused(
      'it is no URL. Characters such as "@", "/" or "#" in a password are written %40, %2F, %23',
    );
  }
}

function refused(why: string): BatchlingError {
  return new BatchlingError(
    'INVALID_OPTION',
    `The address of the PostgreSQL ledger is wrong: ${why}.`,
    {
      facts: { option: 'store' },
    },
  );
}
