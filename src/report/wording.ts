import { formatDuration } from '../duration.ts';
import type { BatchFacts, BatchlingEvents } from '../orchestrator/model/events.ts';
import type { Notice } from '../orchestrator/model/notices.ts';
import { addStats, emptyStats, type Stats } from '../orchestrator/model/stats.ts';
import { doneOf, type ProgressState, type ShownBatch, timeLeft } from './progress-state.ts';
import { counted, number, summaryLine } from './summary.ts';

const minute = 60_000;
/** Further models and troubles are not shown in the live block. */
const mostModels = 4;
const mostTroubles = 2;

/** Printed once, when the first batch of a process is sent and its wait begins. */
export function waitExplained(completionWindow: number, store: string): string[] {
  const longest = formatDuration(completionWindow);
  const wait = `a batch takes minutes to hours, ${longest} at most; the program waits for it`;
  if (store === ':memory:') {
    return [wait, 'do not stop the program: with the store in memory, a stopped run is lost'];
  }
  return [
    wait,
    'it can be stopped (Ctrl-C) and run again: it goes on where it stopped',
    `answers are kept in ${store}`,
  ];
}

export function sentLine({ batch, count, provider, model, remoteId }: BatchFacts): string {
  return `sent ${batch}: ${counted(count, 'request')} to ${provider} ${model} (${remoteId})`;
}

export function rejoinedLine({ batch, count, age }: BatchFacts & { age: number }): string {
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

/** For several batches that came too fast for a line each. */
export function togetherLine(verb: string, batches: number, requests: number): string {
  return `${verb} ${counted(batches, 'more batch', 'more batches')}: ${counted(requests, 'request')}`;
}

export interface ClosedScope {
  readonly stats: Stats;
  /** Tokens of the batches that it had a part in. */
  readonly batches: ReadonlySet<string>;
}

/** The sum of closed scopes; a batch that they shared counts once. */
export function closedLine(scopes: readonly ClosedScope[]): string {
  const sum = emptyStats();
  for (const { stats } of scopes) addStats(sum, stats);
  sum.batches.submitted = new Set(scopes.flatMap(({ batches }) => [...batches])).size;
  const line = summaryLine(sum);
  return scopes.length === 1 ? line : `${counted(scopes.length, 'scope')} closed: ${line}`;
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
      return `${what} in batches of another program that is running: waiting for its answers`;
    }
    case 'rejoined':
      return rejoinedLine(notice);
  }
}

/**
 * The live block: all calls, then the batches by model, then current troubles. The numbers come first
 * in each line, because narrow terminals cut its end off.
 */
export function liveLines(
  { batches, troubles }: ProgressState,
  scopes: readonly { readonly stats: Stats; readonly since: number }[],
  now: number,
): string[] {
  let captured = 0;
  let answered = 0;
  let since = now;
  for (const scope of scopes) {
    captured += scope.stats.captured;
    answered += scope.stats.answered;
    since = Math.min(since, scope.since);
  }
  const models = new Map<string, ShownBatch[]>();
  for (const batch of batches.values()) {
    const name = `${batch.provider} ${batch.model}`;
    models.set(name, [...(models.get(name) ?? []), batch]);
  }
  const hidden = models.size - mostModels;
  return [
    `${number(answered)} of ${number(captured)} calls answered, ${ageText(now - since)}`,
    ...[...models].slice(0, mostModels).map(([name, group]) => `${howFar(group, now)}: ${name}`),
    ...(hidden > 0 ? [`and ${number(hidden)} more models`] : []),
    ...[...troubles.values()].slice(-mostTroubles),
  ];
}

/** How far the batches under way are: the provider's counts, their age, and an estimate. */
export function progressLine(batches: readonly ShownBatch[], now: number): string {
  const [first] = batches;
  const name = batches.length === 1 && first ? first.batch : `${number(batches.length)} batches`;
  const age = now - Math.min(...batches.map(({ sentAt }) => sentAt));
  return `${name}: ${howFar(batches, now)}, after ${ageText(age)}`;
}

/** `1,200 of 3,000 done, about 18m left` */
function howFar(batches: readonly ShownBatch[], now: number): string {
  const requests = batches.reduce((sum, { count }) => sum + count, 0);
  if (batches.every(({ ended }) => ended)) return `${number(requests)} done, reading the answers`;
  const done = batches.reduce((sum, batch) => sum + doneOf(batch), 0);
  if (done === 0) return `${number(requests)} under way, ${whyNone(batches)}`;
  const left = longestLeft(batches, now);
  const estimate = left === undefined ? '' : `, about ${ageText(left)} left`;
  return `${number(done)} of ${number(requests)} done${estimate}`;
}

function whyNone(batches: readonly ShownBatch[]): string {
  const silent = batches.find(({ counts }) => counts === 'none');
  return silent ? `${silent.provider} counts at the end only` : 'none done yet';
}

/** The estimate of the slowest batch; `undefined` where one has no estimate yet. */
function longestLeft(batches: readonly ShownBatch[], now: number): number | undefined {
  let longest = 0;
  for (const batch of batches) {
    const left = batch.ended ? 0 : timeLeft(batch, now);
    if (left === undefined) return undefined;
    longest = Math.max(longest, left);
  }
  return longest;
}

/** Whole seconds below two minutes, whole minutes above. */
function ageText(milliseconds: number): string {
  const unit = milliseconds < 2 * minute ? 1_000 : minute;
  return formatDuration(Math.round(milliseconds / unit) * unit).replace(/^0ms$/, '0s');
}
