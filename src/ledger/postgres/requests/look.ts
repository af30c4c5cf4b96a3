import { decide } from '../../admission-rules.ts';
import type { Ledger, Look } from '../../ledger.ts';
import type { Session, Store } from '../connection/store.ts';
import { chosen } from './admit.ts';
import { readAnswers } from './answers.ts';
import { identityKey } from './packed.ts';
import { type Known, readKnown } from './read-known.ts';

/** Never the id of an owner. */
const NOBODY = 0;
const ASKS_AT_ONCE = 500;

type Asks = Parameters<Ledger['look']>[1];

/** Like `admit`, without its writes. */
export function prepareLook(store: Store): Ledger['look'] {
  return async (run, asks) => {
    const found: Look[] = [];
    for (let from = 0; from < asks.length; from += ASKS_AT_ONCE) {
      const some = asks.slice(from, from + ASKS_AT_ONCE);
      found.push(...(await store.read((session) => lookAt(session, run, some))));
    }
    return found;
  };
}

async function lookAt(session: Session, run: string, asks: Asks): Promise<Look[]> {
  const all = await readKnown(session, asks);
  const seen = asks.map((ask) => {
    const generations = all.get(identityKey(ask.fingerprint, ask.occurrence));
    if (!generations) return undefined;
    const known = chosen(ask, generations);
    return { known, decision: decide(known, ask, () => known.standing(NOBODY, run)) };
  });
  const served = seen.flatMap((one): Known[] => (one && isServed(one) ? [one.known] : []));
  const answers = await readAnswers(
    session,
    served.map(({ id }) => id),
  );
  return seen.map((one): Look => {
    if (one?.decision === 'wait') return { is: 'wait' };
    // It may have been dropped between the two statements.
    const answer = one && isServed(one) ? answers.get(one.known.id) : undefined;
    return answer ? { is: 'answered', answer } : { is: 'new' };
  });
}

function isServed({ decision }: { decision: string }): boolean {
  return decision === 'serve' || decision === 'adopt';
}
