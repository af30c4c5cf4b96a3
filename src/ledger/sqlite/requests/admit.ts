import { invariant } from '../../../errors.ts';
import type { Answer } from '../../../types.ts';
import { attemptsBefore, decide, type Standing } from '../../admission-rules.ts';
import type { Admission, Ask, Ledger, OwnerId } from '../../ledger.ts';
import { type Answers, type FindAnswer, prepareAnswers } from '../answers/answers.ts';
import type { FindNewAnswer, NewAnswers } from '../answers/new-answers.ts';
import { type BatchLookup, prepareBatchLookup } from '../batches/batch-lookup.ts';
import { Pace } from '../connection/pace.ts';
import { inSlices } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { BATCH, requestState } from '../schema/codes.ts';
import { prepareSortIn } from '../schema/identities.ts';
import { prepareInsertNew, type Wanted } from './insert-new.ts';
import { prepareRequests, type RequestRow, type Requests } from './requests.ts';
import { prepareRunCount } from './run-count.ts';

interface Session {
  readonly requests: Requests;
  readonly answers: Answers;
  readonly answerOf: FindAnswer;
  readonly newAnswers: NewAnswers;
  readonly newAnswerOf: FindNewAnswer;
  readonly batchOf: BatchLookup;
  readonly me: OwnerId;
  readonly standingOf: (owner: OwnerId) => Standing;
}

export function prepareAdmit(
  store: Store,
  owners: Owners,
  newAnswers: NewAnswers,
): Ledger['admit'] {
  const requests = prepareRequests(store);
  const insertNew = prepareInsertNew(store);
  const answers = prepareAnswers(store);
  const nextOccurrence = prepareRunCount(store);
  const batchLookup = prepareBatchLookup(store);
  const sortIn = prepareSortIn(store);
  // A few statements write all rows, so many rows cost little more than few.
  const pace = new Pace({ least: 20, most: 1_000 });
  return async (me, asks) => {
    const admissions: Admission[] = [];
    await inSlices(
      asks,
      async (slice) => {
        const work = () => {
          const run = owners.require(me);
          const standingOf = owners.standings(me, run);
          const session = {
            requests,
            answers,
            answerOf: answers.finder(),
            newAnswers,
            newAnswerOf: newAnswers.finder(),
            batchOf: batchLookup(),
            me,
            standingOf,
          };
          const wanted = slice.map(({ fingerprint, queue, occurrence: given }) => {
            const occurrence = given === 'next' ? nextOccurrence(run, fingerprint) : given;
            return { fingerprint, queue, occurrence };
          });
          const inserted = insertNew(me, wanted);
          return slice.map((ask, place): Admission => {
            const { occurrence } = wanted[place] as Wanted;
            const request = inserted[place];
            if (request !== undefined) return { request, occurrence, is: 'mine' };
            return admitKnown(session, ask, occurrence);
          });
        };
        const decided = await store.write(work, { pace, rows: slice.length });
        for (const admission of decided) admissions.push(admission);
      },
      { pace },
    );
    // What is admitted is admitted.
    await sortIn().catch(() => {});
    return admissions;
  };
}

function admitKnown(session: Session, ask: Ask, occurrence: number): Admission {
  const { requests, answers, me } = session;
  const newest = findNewest(session, ask, occurrence);
  const { row, answer } = choose(session, ask, occurrence, newest);
  const known = effective(session, row);
  const decision = decide({ state: known.state, hasAnswer: answer !== undefined }, ask, () =>
    session.standingOf(known.owner),
  );
  switch (decision) {
    case 'renew': {
      const generation = newest.generation + 1;
      const request = requests.insert(ask.fingerprint, occurrence, generation, me, ask.queue);
      return { request, occurrence, is: 'mine' };
    }
    case 'take': {
      const attempt = attemptsBefore(known.state, row.attempt);
      requests.reset(row.id, me, ask.queue, attempt);
      answers.eraseUnused(row.answer);
      return { request: row.id, occurrence, is: 'mine', ...(attempt > 0 && { attempt }) };
    }
    case 'wait':
      return {
        request: row.id,
        occurrence,
        is: 'wait',
        ...(known.batch !== null && { batch: known.batch }),
      };
    case 'adopt':
      requests.own(row.id, me);
      return served(session, row, occurrence, answer);
    case 'serve':
      return served(session, row, occurrence, answer);
  }
}

/** The newest generation. If its answer has come and the row does not know yet, it is told now. */
function findNewest(session: Session, ask: Ask, occurrence: number): RequestRow {
  const { requests, newAnswers, newAnswerOf } = session;
  const find = () => {
    const row = requests.find(ask.fingerprint, occurrence);
    invariant(row, 'A request is known and cannot be found');
    return row;
  };
  const row = find();
  if (row.batch === null || requestState(row.state) !== 'planned') return row;
  const block = newAnswerOf(row.batch, row.id);
  if (block === undefined) return row;
  newAnswers.enterOne(row.batch, row.id, block);
  return find();
}

/** The row to decide about, with its answer if it is final and the answer is still stored. */
function choose(session: Session, ask: Ask, occurrence: number, newest: RequestRow) {
  const { requests, answerOf } = session;
  const state = requestState(newest.state);
  const answer = state === 'answered' || state === 'failed' ? answerOf(newest) : undefined;
  if (!ask.cache || newest.generation === 0 || (state === 'answered' && answer)) {
    return { row: newest, answer };
  }
  const older = requests.findAnswered(ask.fingerprint, occurrence);
  return older ? { row: older, answer: answerOf(older) } : { row: newest, answer };
}

/**
 * Who is assigned to a batch that is still being planned counts as admitted by the planner: if that
 * one died half way, its requests are free.
 */
function effective(session: Session, row: RequestRow) {
  const { batch, owner } = row;
  const state = requestState(row.state);
  if (state !== 'planned' || batch === null) return { state, batch, owner };
  const found = session.batchOf(batch);
  invariant(found, `Request ${row.id} is a member of batch ${batch}, which does not exist`);
  if (found.state !== BATCH.planning) return { state, batch, owner: found.owner };
  return { state: 'admitted' as const, batch: null, owner: found.owner };
}

function served(
  session: Session,
  row: RequestRow,
  occurrence: number,
  answer: Answer | undefined,
): Admission {
  invariant(answer, `Request ${row.id} has no answer to serve`);
  const batch = row.batch === null ? undefined : session.batchOf(row.batch);
  return {
    request: row.id,
    occurrence,
    is: 'answered',
    answer,
    ...(batch && { batchToken: batch.token }),
  };
}
