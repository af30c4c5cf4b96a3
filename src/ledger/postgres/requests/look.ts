import { decide, isServed, lookOf, nobody } from '../../admission-rules.ts';
import type { Ledger, Look } from '../../ledger.ts';
import { inSlices } from '../../sql/slices.ts';
import type { Session, Store } from '../connection/store.ts';
import { chosen } from './admit.ts';
import { readAnswers } from './answers.ts';
import { identityKey } from './packed.ts';

import { readKnown } from './read-known.ts';

type Asks = Parameters<Ledger['look']>[1];

/** Like `admit`, without its writes. */
export function prepareLook(store: Store): Ledger['look'] {
  return async (run, asks) => {
    const found: Look[] = [];
    await inSlices(asks, async (some) => {
      found.push(...(await store.read((session) => lookAt(session, run, some))));
    });
    return found;
  };
}

async function lookAt(session: Session, run: string, asks: Asks): Promise<Look[]> {
  const all = await readKnown(session, asks);
  const seen = asks.map((ask) => {
    const generations = all.get(identityKey(ask.fingerprint, ask.occurrence));
    if (!generations) return undefined;
    const known = chosen(ask, generations);
    return { known, decision: decide(known, ask, () => known.standing(nobody, run)) };
  });
  const served = seen.flatMap((one) => (one && isServed(one.decision) ? [one.known.id] : []));
  const answers = await readAnswers(session, served);
  // An answer may have been dropped between the two statements.
  return seen.map((one) => lookOf(one?.decision, one && answers.get(one.known.id)));
}
