import { invariant } from '../../../base/errors.ts';
import type { Answer } from '../../../base/types.ts';
import { attemptsBefore, decide, type Standing } from '../../admission-rules.ts';
import { bestEffort } from '../../best-effort.ts';
import type { Admission, Ask, Ledger, OwnerId } from '../../ledger.ts';
import { BATCH, requestState } from '../../sql/codes.ts';
import { inSlices } from '../../sql/slices.ts';
import { type Answers, type FindAnswer, prepareAnswers } from '../answers/answers.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { prepareSortIn } from './identities.ts';
import { prepareInsertNew, type Wanted } from './insert-new.ts';
import { prepareRequests, type RequestRow, type Requests } from './requests.ts';
import { prepareWithdraw } from './settled.ts';

/** Asks for known requests take long: each may have to read a block of answers. */
const KNOWN_PER_TRANSACTION = 100;

/** Never the id of a request. */
const NOT_YET = 0;

/** An ask, the occurrence it stands for, and its place among all asks. */
interface PlacedAsk {
  readonly ask: Ask;
  readonly occurrence: number;
  readonly place: number;
}

/** The state that the decisions of one transaction share. */
interface Round {
  readonly requests: Requests;
  readonly answers: Answers;
  readonly answerOf: FindAnswer;
  readonly newAnswers: NewAnswers;
  readonly newAnswerOf: ReturnType<NewAnswers['finder']>;
  readonly batchOf: ReturnType<Requests['batchFinder']>;
  readonly me: OwnerId;
  readonly standingOf: (owner: OwnerId) => Standing;
}

/**
 * Nearly every request is new, so a first transaction inserts the new ones of a slice with few
 * statements. Others decide about the rest one by one. Each decision is atomic; the slice is not.
 */
export function prepareAdmit(
  store: Store,
  owners: Owners,
  newAnswers: NewAnswers,
): Ledger['admit'] {
  const withdraw = prepareWithdraw(store, owners);
  const requests = prepareRequests(store);
  const insertNew = prepareInsertNew(store);
  const answers = prepareAnswers(store);
  const sortIn = prepareSortIn(store);

  const insertSlice = (me: OwnerId, slice: readonly Ask[]) => {
    const run = owners.require(me);
    const wanted = slice.map(({ fingerprint, queue, occurrence: given }) => {
      const occurrence = given === 'next' ? requests.nextOccurrence(run, fingerprint) : given;
      return { fingerprint, queue, occurrence };
    });
    return { wanted, inserted: insertNew(me, wanted) };
  };
  const decideSlice = (me: OwnerId, slice: readonly PlacedAsk[]) => {
    const round = {
      requests,
      answers,
      answerOf: answers.finder(),
      newAnswers,
      newAnswerOf: newAnswers.finder(),
      batchOf: requests.batchFinder(),
      me,
      standingOf: owners.standings(me, owners.require(me)),
    };
    return slice.map(({ ask, occurrence }) => admitKnown(round, ask, occurrence));
  };

  const admitAll = async (me: OwnerId, asks: readonly Ask[], admissions: Admission[]) => {
    await inSlices(asks, async (slice) => {
      const { wanted, inserted } = await store.write(() => insertSlice(me, slice));
      const known: PlacedAsk[] = [];
      slice.forEach((ask, index) => {
        const { occurrence } = wanted[index] as Wanted;
        const request = inserted[index];
        if (request === undefined) known.push({ ask, occurrence, place: admissions.length });
        // The places of known requests are filled below.
        admissions.push({ request: request ?? NOT_YET, occurrence, is: 'mine' });
      });
      if (known.length === 0) return;
      const decideSome = async (some: readonly PlacedAsk[]) => {
        const decided = await store.write(() => decideSlice(me, some));
        some.forEach(({ place }, index) => {
          admissions[place] = decided[index] as Admission;
        });
      };
      await inSlices(known, decideSome, { rows: KNOWN_PER_TRANSACTION });
    });
  };

  return async (me, asks) => {
    const admissions: Admission[] = [];
    try {
      await admitAll(me, asks, admissions);
    } catch (error) {
      // The asker does not hear of what it has got so far, so nobody would send it.
      const mine = admissions.filter(({ is, request }) => is === 'mine' && request !== NOT_YET);
      const requests = mine.map(({ request }) => request);
      if (requests.length > 0)
        await bestEffort(
          store.log,
          'withdraw the requests of a failed admission',
          withdraw(me, requests),
        );
      throw error;
    }
    // A failure costs nothing: a later admission tries again.
    await bestEffort(store.log, 'sort in new requests', sortIn(), 'debug');
    return admissions;
  };
}

function admitKnown(round: Round, ask: Ask, occurrence: number): Admission {
  const { requests, answers, me } = round;
  const newest = findNewest(round, ask, occurrence);
  // Another process may have forgotten it since it was found to be known.
  if (!newest) return inserted(round, ask, occurrence, 0);
  const { row, answer } = choose(round, ask, occurrence, newest);
  const known = effective(round, row);
  const decision = decide({ state: known.state, hasAnswer: answer !== undefined }, ask, () =>
    round.standingOf(known.owner),
  );
  switch (decision) {
    case 'renew':
      return inserted(round, ask, occurrence, newest.generation + 1);
    case 'take': {
      const attempt = attemptsBefore(known.state, row.attempt);
      const isSent = known.state === 'admitted' && row.batch === null && row.seq !== null;
      const sent = isSent && { sent: true as const };
      requests.reset(row.id, me, ask.queue, attempt);
      answers.eraseUnused(row.answer);
      return { request: row.id, occurrence, is: 'mine', ...(attempt > 0 && { attempt }), ...sent };
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
      return served(round, row, occurrence, answer);
    case 'serve':
      return served(round, row, occurrence, answer);
  }
}

function inserted(round: Round, ask: Ask, occurrence: number, generation: number): Admission {
  const { requests, me } = round;
  const request = requests.insert(ask, occurrence, generation, me);
  return { request, occurrence, is: 'mine' };
}

/** The newest generation. An answer that its row does not name yet is written into the row first. */
function findNewest(round: Round, ask: Ask, occurrence: number): RequestRow | undefined {
  const { requests, newAnswers, newAnswerOf } = round;
  const row = requests.find(ask.fingerprint, occurrence);
  if (!row || row.batch === null || requestState(row.state) !== 'planned') return row;
  const answer = newAnswerOf(row.batch, row.id);
  if (answer === undefined) return row;
  newAnswers.enterOne(row.batch, row.id, answer);
  return requests.find(ask.fingerprint, occurrence);
}

/** The row to decide about, with its answer if it is final and the answer is still stored. */
function choose(round: Round, ask: Ask, occurrence: number, newest: RequestRow) {
  const { requests, answerOf } = round;
  const state = requestState(newest.state);
  const answer = state === 'answered' || state === 'failed' ? answerOf(newest) : undefined;
  if (!ask.cache || newest.generation === 0 || (state === 'answered' && answer)) {
    return { row: newest, answer };
  }
  const older = requests.findAnswered(ask.fingerprint, occurrence);
  return older ? { row: older, answer: answerOf(older) } : { row: newest, answer };
}

/**
 * A member of a batch that is still being planned counts as admitted by the planner: if that owner
 * died half way, its requests are free.
 */
function effective(round: Round, row: RequestRow) {
  const { batch, owner } = row;
  const state = requestState(row.state);
  if (state !== 'planned' || batch === null) return { state, batch, owner };
  const found = round.batchOf(batch);
  invariant(found, `Request ${row.id} is a member of batch ${batch}, which does not exist`);
  if (found.state !== BATCH.planning) return { state, batch, owner: found.owner };
  return { state: 'admitted' as const, batch: null, owner: found.owner };
}

function served(
  round: Round,
  row: RequestRow,
  occurrence: number,
  answer: Answer | undefined,
): Admission {
  invariant(answer, `Request ${row.id} has no answer to serve`);
  const batch = row.batch === null ? undefined : round.batchOf(row.batch);
  return {
    request: row.id,
    occurrence,
    is: 'answered',
    answer,
    ...(batch && { batchToken: batch.token }),
  };
}
