import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { objection } from './address-objection.ts';

/**
 * Looks a name up for a connection. All of its addresses are checked, and the connection is made to these: a
 * name that means something else a moment later leads nowhere else.
 */
export function checkedLookup(url: URL, find: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    const { family } = options;
    const all = { all: true, ...(family !== undefined && { family }) } as const;
    find(hostname, all, (error, addresses: LookupAddress[] = []) => {
      const objections = addresses.map(({ address }) => objection(url, address));
      const refused = objections.find((text) => text !== undefined);
      const first = addresses[0];
      const failure = error ?? (refused === undefined ? null : new Error(refused));
      if (failure || !first) callback(failure ?? new Error(`${hostname} has no address`), '', 4);
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
