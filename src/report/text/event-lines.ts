import { formatDuration } from '../../base/duration.ts';
import type { BatchFacts, BatchlingEvents, Notice } from '../../orchestrator/events/events.ts';
import { rowName } from '../call-counts.ts';
import type { DisplayedScope, FirstUse } from '../display.ts';
import { doneOf, type ShownBatch } from '../progress-state.ts';
import type { Usual } from './live-lines.ts';
import { longestLeft } from './queue-rows.ts';
import { ageText, counted, number } from './summary.ts';

/** Printed once, when the first batch of a process is sent and its wait begins. */
export function waitExplained(
  { completionWindow, store, firstUse }: DisplayedScope,
  mayDetach: boolean,
): string[] {
  // Some providers take longer than they are asked to.
  const asked = formatDuration(completionWindow);
  const isLeft = mayDetach && store !== ':memory:';
  const then = isLeft ? 'the program ends when all is sent' : 'the program waits for it';
  const wait = `a batch takes minutes to hours (${asked} were asked for); ${then}`;
  if (store === ':memory:') {
    const lost = 'with the store in memory, a stopped run is lost and paid for again';
    return [wait, `do not stop the program: ${lost}`];
  }
  return [
    wait,
    ...(isLeft ? [] : ['it can be stopped (Ctrl-C) and run again: it goes on where it stopped']),
    ...(firstUse ? firstUseLines(store, firstUse) : [`answers are kept in ${store}`]),
  ];
}

/** Printed where the ledger is new: where it is, what it holds, and how to turn it off. */
function firstUseLines(store: string, { retention, keep }: FirstUse): string[] {
  const holds = {
    answers: 'answers',
    all: 'answers and what was asked',
    none: 'no answers, only what is under way',
  } as const;
  const time = keep === 'none' ? '' : ` for ${formatDuration(retention)}`;
  return [
    `first use: the ledger is now in ${store}`,
    `it holds ${holds[keep]}${time}, so that nothing is paid twice; it holds no keys`,
    'to turn it off: --store :memory: (the option store); to keep no answers: --keep none',
  ];
}

export function sentLine({ batch, count, provider, model, remoteId }: BatchFacts): string {
  return `sent ${batch}: ${counted(count, 'request')} to ${provider} ${model} (${remoteId})`;
}

function rejoinedLine({ batch, count, age }: BatchFacts & { age: number }): string {
  const requests = counted(count, 'request');
  return `rejoined ${batch}: ${requests} of an earlier run (sent ${ageText(age)} ago)`;
}

export function collectedLine(
  { batch, answered, failed }: BatchlingEvents['batch:collected'],
  age: number | undefined,
): string {
  const errors = failed > 0 ? `, ${counted(failed, 'error')}` : '';
  const after = age === undefined ? '' : `, after ${ageText(age)}`;
  return `collected ${batch}: ${counted(answered, 'answer')}${errors}${after}`;
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
