import { decide, lookOf, nobody } from '../../admission-rules.ts';
import type { Ledger, Look } from '../../ledger.ts';
import { requestState } from '../../sql/codes.ts';
import { inSlices } from '../../sql/slices.ts';
import { prepareAnswers } from '../answers/answers.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { prepareRequests } from './requests.ts';

/** Each may have to read a block of answers. */
const ROWS_PER_READ = 100;

/** Like `admit`, without its writes. */
export function prepareLook(store: Store, owners: Owners, newAnswers: NewAnswers): Ledger['look'] {
  const requests = prepareRequests(store);
  const answers = prepareAnswers(store);

  const lookAll = (run: string, asks: Parameters<Ledger['look']>[1]): Look[] => {
    const answerOf = answers.finder();
    const newAnswerOf = newAnswers.finder();
    const standingOf = owners.standings(nobody, run);
    return asks.map((ask): Look => {
      const newest = requests.find(ask.fingerprint, ask.occurrence);
      if (newest === undefined) return { is: 'new' };
      const older = ask.cache ? requests.findAnswered(ask.fingerprint, ask.occurrence) : undefined;
      const row = older ?? newest;
      const state = requestState(row.state);
      // A new answer is in no row yet: its batch is paid for, and its owner or a takeover enters it.
      const isNewlyAnswered = row.batch !== null && newAnswerOf(row.batch, row.id) !== undefined;
      if (state === 'planned' || isNewlyAnswered) return { is: 'wait' };
      const answer = answerOf(row);
      const decision = decide({ state, hasAnswer: answer !== undefined }, ask, () =>
        standingOf(row.owner),
      );
      return lookOf(decision, answer);
    });
  };

  return async (run, asks) => {
    const found: Look[] = [];
    if (asks.length === 0) return found;
    await inSlices(
      asks,
      async (slice) => {
        found.push(...(await store.read(() => lookAll(run, slice))));
      },
      { rows: ROWS_PER_READ },
    );
    return found;
  };
}
