import { formatDuration } from '../../base/duration.ts';
import type { BatchFacts, BatchlingEvents, Notice } from '../../orchestrator/events/events.ts';
import type { SlowKind, Slowness } from '../../orchestrator/model/batch-times.ts';
import { rowName } from '../call-counts.ts';
import type { DisplayedScope, FirstUse } from '../display.ts';
import { doneOf, type ShownBatch } from '../progress-state.ts';
import type { Usual } from './live-lines.ts';
import { longestLeft } from './queue-rows.ts';
import { ageText, counted, number } from './summary.ts';

/** Printed once, when the first batch of a process is sent and its wait begins. */
export function waitExplained({ store, firstUse }: DisplayedScope, mayDetach: boolean): string[] {
  const wait = 'a batch takes minutes to hours';
  if (store === ':memory:') {
    const lost = 'with the store in memory, a stopped run is lost and paid for again';
    return [`${wait}; do not stop the program: ${lost}`];
  }
  const then = mayDetach ? 'the program ends when all is sent' : 'Ctrl-C is safe: a re-run goes on';
  return [`${wait}; ${then}`, ...(firstUse ? [firstUseLine(store, firstUse)] : [])];
}

/** Printed where the ledger is new: what it holds, where it is, and how to turn it off. */
function firstUseLine(store: string, { retention, keep }: FirstUse): string {
  const off = 'to turn it off: --store :memory:';
  if (keep === 'none')
    return `first use: what is under way is kept in ${store} (no answers; ${off})`;
  const what = keep === 'all' ? 'answers and what was asked' : 'answers';
  return `first use: ${what} are kept for ${formatDuration(retention)} in ${store} (no keys; ${off})`;
}

export function sentLine({ batch, count, provider, model }: BatchFacts): string {
  return `sent ${batch}: ${counted(count, 'request')} to ${provider} ${model}`;
}

function rejoinedLine({ batch, count, age }: BatchFacts & { age: number }): string {
  const requests = counted(count, 'request');
  return `rejoined ${batch}: ${requests} of an earlier run (sent ${ageText(age)} ago)`;
}

export function collectedLine(
  { batch, count, answered, failed }: BatchlingEvents['batch:collected'],
  age: number | undefined,
): string {
  const errors = failed > 0 ? `, ${counted(failed, 'error')}` : '';
  const after = age === undefined ? '' : `, after ${ageText(age)}`;
  // The rest is tried again, or nobody waits for it.
  const answers =
    answered + failed < count
      ? `${number(answered)} of ${counted(count, 'answer')}`
      : counted(answered, 'answer');
  return `collected ${batch}: ${answers}${errors}${after}`;
}

/** A few words for a column. */
export const slowWords: Readonly<Record<SlowKind, string>> = {
  slow: 'slow',
  stuck: 'stuck',
  provider: 'provider slow',
};

/** What is known of a slow batch, to be said after its name. */
export function slowText({ kind, age, usual }: Slowness, model: string): string {
  const verdict = {
    slow: 'is slow',
    stuck: `seems to be stuck, because others of ${model} sent with it or later have ended`,
    provider: `is slow, and so are others of ${model}: the provider is slow`,
  } as const;
  const took = `9 of 10 batches of its size took at most ${ageText(usual)}`;
  return `${verdict[kind]}; under way for ${ageText(age)}, ${took}`;
}

export function slowLine(event: BatchlingEvents['batch:slow']): string {
  return `${event.batch} ${slowText(event, event.model)}`;
}

export function noticeLine(notice: Notice): string | undefined {
  switch (notice.notice) {
    case 'trouble':
    case 'hint':
    case 'over':
      return notice.text;
    case 'gave-up': {
      const calls = 'its calls have got the reason as their error';
      return `gave up on ${notice.batch}: ${calls}. It stays in the ledger for another run`;
    }
    case 'elsewhere': {
      const what = notice.count === 1 ? '1 request is' : `${number(notice.count)} requests are`;
      return notice.lease === undefined
        ? `${what} in batches of another program that is running: waiting for its answers`
        : `${what} in batches of another program that may have ended: waiting for its answers, or going on ` +
            `with them ${formatDuration(notice.lease)} after its end`;
    }
    case 'rejoined':
      return rejoinedLine(notice);
    case 'no-ledger':
      // A warning of the process has said so.
      return undefined;
  }
}

/** How far the batches under way are: the provider's counts, their age, and an estimate. */
export function progressLine(batches: readonly ShownBatch[], usual: Usual, now: number): string {
  const [first] = batches;
  const name = batches.length === 1 && first ? first.batch : `${number(batches.length)} batches`;
  const age = now - Math.min(...batches.map(({ sentAt }) => sentAt));
  return `${name}: ${howFar(batches, usual, now)}, after ${ageText(age)}`;
}

/** `1,200 of 3,000 done, about 18m left` */
function howFar(batches: readonly ShownBatch[], usual: Usual, now: number): string {
  const requests = batches.reduce((sum, { count }) => sum + count, 0);
  const done = batches.reduce((sum, batch) => sum + doneOf(batch), 0);
  const far =
    done === 0
      ? `${number(requests)} under way, ${whyNone(batches)}`
      : `${number(done)} of ${number(requests)} done`;
  const left = longestLeft(batches, now);
  if (left !== undefined) return `${far}, about ${ageText(left)} left`;
  const times = batches.map((batch) => usual.get(rowName(batch)) ?? 0);
  const longest = Math.max(...times);
  return longest > 0 ? `${far}, usually ${ageText(longest)}` : far;
}

function whyNone(batches: readonly ShownBatch[]): string {
  const silent = batches.find(({ counts }) => counts === 'none');
  return silent ? `${silent.provider} counts at the end only` : 'none done yet';
}
