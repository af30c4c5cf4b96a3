import { attemptsBefore, type Decision, decide } from '../../admission-rules.ts';
import { bestEffort } from '../../best-effort.ts';
import type { Admission, Ask, Ledger, OwnerId, RequestId } from '../../ledger.ts';
import type { Store, Transaction } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { readAnswers } from './answers.ts';
import { insertRequests } from './insert-new.ts';
import { countOccurrences, type PlacedAsk } from './occurrences.ts';
import { type Known, type KnownRequests, lockKnown, readKnown } from './read-known.ts';
import { prepareWithdraw } from './settled.ts';
import { adoptRequests, takeRequests } from './take.ts';

const ASKS_PER_TRANSACTION = 1_000;

interface Decided {
  readonly ask: PlacedAsk;
  readonly known: Known;
  readonly newest: Known;
  readonly decision: Decision;
}

/** The state of the decisions of one transaction. Admissions are filled in at the places of their asks. */
interface Round {
  readonly transaction: Transaction;
  readonly me: OwnerId;
  readonly run: string;
  readonly admissions: Admission[];
}

/**
 * Nearly every request is new: one statement inserts those. The others are read without a lock first,
 * because most of them only wait or are answered. Only what is to be changed is locked, read again and
 * decided again. Durable, because an id that is told must not be given out again after a crash of the
 * server.
 */
export function prepareAdmit(store: Store, owners: Owners): Ledger['admit'] {
  const withdraw = prepareWithdraw(store, owners);

  const admitSlice = (me: OwnerId, asks: readonly Ask[]): Promise<Admission[]> =>
    store.write(
      async (transaction) => {
        const run = await owners.require(transaction, me);
        const round: Round = { transaction, me, run, admissions: [] };
        let open = await countOccurrences(transaction, run, asks);
        while (open.length > 0) open = await decideSome(round, open);
        return round.admissions;
      },
      { durable: true },
    );

  return async (me, asks) => {
    const admissions: Admission[] = [];
    try {
      let from = 0;
      do {
        const slice = asks.slice(from, from + ASKS_PER_TRANSACTION);
        for (const admission of await admitSlice(me, slice)) admissions.push(admission);
        from += ASKS_PER_TRANSACTION;
      } while (from < asks.length);
    } catch (error) {
      // The asker does not hear of what it has got so far, so nobody would send it.
      const mine = admissions.filter(({ is }) => is === 'mine').map(({ request }) => request);
      if (mine.length > 0)
        await bestEffort(
          store.log,
          'withdraw the requests of a failed admission',
          withdraw(me, mine),
        );
      throw error;
    }
    return admissions;
  };
}

/** Returns the asks that are still open: equal asks are decided one after the other. */
async function decideSome(round: Round, asks: readonly PlacedAsk[]): Promise<PlacedAsk[]> {
  const { transaction, me, admissions } = round;
  const { first, later } = firstOfEachKey(asks);
  const inserted = await insertRequests(
    transaction,
    me,
    first.map((ask) => ({ ...ask, generation: 0 })),
  );
  const rest: PlacedAsk[] = [];
  for (const ask of first) {
    const request = inserted.get(ask.key);
    if (request === undefined) rest.push(ask);
    else admissions[ask.place] = { request, occurrence: ask.occurrence, is: 'mine' };
  }
  if (rest.length === 0) return later;
  return [...later, ...(await decideKnown(round, rest))];
}

/** Returns asks whose requests other processes have changed or forgotten meanwhile. */
async function decideKnown(round: Round, asks: readonly PlacedAsk[]): Promise<PlacedAsk[]> {
  const { transaction } = round;
  const seen = decideAll(round, asks, await readKnown(transaction, asks));
  const [still, changing] = split(seen.decided, isWithoutWrite);
  const open = [...seen.missing, ...(await tell(round, still))];
  if (changing.length === 0) return open;
  const locked = changing.map(({ ask }) => ask);
  await lockKnown(transaction, locked);
  const again = decideAll(round, locked, await readKnown(transaction, locked));
  const renewed = await renew(round, again.decided.filter(isDecision('renew')));
  await take(round, again.decided.filter(isDecision('take')));
  const adopted = again.decided.filter(isDecision('adopt'));
  await adoptRequests(transaction, round.me, idsOf(adopted));
  const dropped = await tell(round, [...adopted, ...again.decided.filter(isWithoutWrite)]);
  return [...open, ...again.missing, ...renewed, ...dropped];
}

function decideAll({ me, run }: Round, asks: readonly PlacedAsk[], all: KnownRequests) {
  const decided: Decided[] = [];
  const missing: PlacedAsk[] = [];
  for (const ask of asks) {
    const generations = all.get(ask.key);
    if (generations) {
      const known = chosen(ask, generations);
      const decision = decide(known, ask, () => known.standing(me, run));
      decided.push({ ask, known, newest: generations[0], decision });
    } else missing.push(ask);
  }
  return { decided, missing };
}

/** The newest generation, or for an asker that uses stored answers the newest that has one. */
export function chosen(ask: Pick<Ask, 'cache'>, generations: readonly [Known, ...Known[]]): Known {
  const answered = ({ state, hasAnswer }: Known) => state === 'answered' && hasAnswer;
  return (ask.cache && generations.find(answered)) || generations[0];
}

async function renew(round: Round, decided: readonly Decided[]): Promise<PlacedAsk[]> {
  const { transaction, me, admissions } = round;
  const requests = decided.map(({ ask, newest }) => ({
    ...ask,
    generation: newest.generation + 1,
  }));
  const inserted = await insertRequests(transaction, me, requests);
  return requests.filter(({ key, place, occurrence }) => {
    const request = inserted.get(key);
    if (request === undefined) return true;
    admissions[place] = { request, occurrence, is: 'mine' };
    return false;
  });
}

async function take({ transaction, me, admissions }: Round, decided: readonly Decided[]) {
  const taken = decided.map(({ ask, known: { id, state, attempt, isSent } }) => {
    const before = attemptsBefore(state, attempt);
    const { occurrence } = ask;
    const tried = before > 0 && { attempt: before };
    const sent = isSent && { sent: true as const };
    admissions[ask.place] = { request: id, occurrence, is: 'mine', ...tried, ...sent };
    return { request: id, queue: ask.queue, attempt: before };
  });
  await takeRequests(transaction, me, taken);
}

/** Admissions to wait, and stored answers. Returns asks whose answers were dropped since they were seen. */
async function tell(
  { transaction, admissions }: Round,
  decided: readonly Decided[],
): Promise<PlacedAsk[]> {
  const [waiting, served] = split(decided, isDecision('wait'));
  for (const { ask, known } of waiting) {
    const batch = known.batch !== null && { batch: known.batch };
    admissions[ask.place] = { request: known.id, occurrence: ask.occurrence, is: 'wait', ...batch };
  }
  const dropped: PlacedAsk[] = [];
  const answers = await readAnswers(transaction, idsOf(served));
  for (const { ask, known } of served) {
    const answer = answers.get(known.id);
    const from = known.batchToken !== null && { batchToken: known.batchToken };
    const { occurrence } = ask;
    if (!answer) dropped.push(ask);
    else admissions[ask.place] = { request: known.id, occurrence, is: 'answered', answer, ...from };
  }
  return dropped;
}

function idsOf(decided: readonly Decided[]): RequestId[] {
  return decided.map(({ known }) => known.id);
}

function isDecision(wanted: Decision): (decided: Decided) => boolean {
  return ({ decision }) => decision === wanted;
}

function isWithoutWrite({ decision }: Decided): boolean {
  return decision === 'wait' || decision === 'serve';
}

function firstOfEachKey(asks: readonly PlacedAsk[]) {
  const keys = new Set<string>();
  const [first, later] = split(asks, ({ key }) => {
    const isFirst = !keys.has(key);
    keys.add(key);
    return isFirst;
  });
  return { first, later };
}

function split<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const [passed, failed]: [T[], T[]] = [[], []];
  for (const item of items) (test(item) ? passed : failed).push(item);
  return [passed, failed];
}
