import { parseDuration } from '../../../base/duration.ts';
import { BatchlingError } from '../../../base/errors.ts';
import { defaultSchema, shownStore } from '../../../base/store-address.ts';

/** Where a ledger is, as the text of the option `store` says. */
export interface Address {
  /** For the driver; it may hold a password. */
  readonly url: string;
  readonly schema: string;
  /** Milliseconds; see `Owners`. */
  readonly lease: number;
  /** For people: without user, password and settings. */
  readonly shown: string;
}

/** An owner that was not heard of for this long is gone. */
const DEFAULT_LEASE = 120_000;
const SHORTEST_LEASE = 1_000;
const LONGEST_LEASE = 3_600_000;

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
  const lease = leaseOf(url.searchParams.get('lease'));
  for (const ours of ['schema', 'lease']) url.searchParams.delete(ours);
  return { url: url.href, schema, lease, shown: shownStore(store) };
}

function leaseOf(text: string | null): number {
  if (text === null) return DEFAULT_LEASE;
  try {
    const lease = parseDuration(text);
    if (lease >= SHORTEST_LEASE && lease <= LONGEST_LEASE) return lease;
  } catch {
    // Refused below.
  }
  throw refused('its lease has to be a duration from 1s to 1h, such as ?lease=120s');
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
