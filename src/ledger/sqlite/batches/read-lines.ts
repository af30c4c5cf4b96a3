import type { Ledger } from '../../ledger.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import { prepareMembers } from './members.ts';

/** Answers that the rows do not name yet are entered first: their members have an outcome. */
export function prepareReadLines(store: Store, newAnswers: NewAnswers): Ledger['lines'] {
  const members = prepareMembers(store);
  return async (batch) => {
    await newAnswers.enter(batch);
    return members.read(batch);
  };
}
