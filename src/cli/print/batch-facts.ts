import { formatDuration } from '../../base/duration.ts';
import type { BatchSummary, OpenBatch } from '../../ledger/ledger.ts';
import type { Slowness } from '../../orchestrator/model/batch-times.ts';
import { slowText } from '../../report/text/event-lines.ts';
import { stateWords } from '../../report/text/state-words.ts';
import { dollars, number } from '../../report/text/summary.ts';
import { ageOf, momentOf } from './batch-words.ts';
import type { RequestTally } from './request-rows.ts';

type Fact = readonly [name: string, value: string | undefined];

/** What `show` prints about a batch as a whole. */
export function batchFacts(
  batch: BatchSummary,
  open: OpenBatch | undefined,
  tally: RequestTally,
  now: number,
  slow?: Slowness,
): string[] {
  const { token, raw, provider, model, endpoint, base, remoteId, name, run, failure } = batch;
  const state = stateWords(batch, open?.owner !== undefined, slow);
  const facts: readonly Fact[] = [
    ['state', raw === undefined ? state : `${state} (the provider says: ${raw})`],
    ['slow', slow && `it ${slowText(slow, model)}`],
    ['provider', `${provider}, ${model}, ${endpoint}`],
    ['at', base],
    ['its id there', remoteId],
    ['name', name],
    ['tags', tagsOf(batch)],
    ['run', run],
    ['worked on by', ownerOf(open)],
    ['planned', `${momentOf(batch.createdAt)} (${ageOf(now - batch.createdAt)} ago)`],
    ['accepted', after(batch.acceptedAt, batch.createdAt)],
    ['ended', after(batch.endedAt, batch.acceptedAt ?? batch.createdAt)],
    ['requests', requestsOf(batch, tally)],
    ['provider counts', countsOf(batch)],
    ['cost', costOf(batch)],
    ['failure', failure],
  ];
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined);
  const width = Math.max(...known.map(([title]) => title.length));
  return [token, ...known.map(([title, value]) => `  ${title.padEnd(width)}  ${value}`)];
}

function tagsOf({ tags }: BatchSummary): string | undefined {
  const pairs = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? undefined : pairs.join(', ');
}

function ownerOf(open: OpenBatch | undefined): string | undefined {
  if (open === undefined) return undefined;
  const { owner } = open;
  if (owner) return `process ${owner.pid} on ${owner.host}`;
  return 'no process; `batchling collect` or running the program again goes on with it';
}

function after(at: number | undefined, before: number): string | undefined {
  if (at === undefined) return undefined;
  return `${momentOf(at)} (${formatDuration(Math.max(0, at - before))} later)`;
}

function requestsOf(batch: BatchSummary, tally: RequestTally): string {
  const { sent, answered, failed, waiting, gone } = tally.counts(batch);
  const parts = [`${number(answered)} answered`];
  if (failed > 0) parts.push(`${number(failed)} with an error`);
  if (waiting > 0) parts.push(`${number(waiting)} without an answer yet`);
  if (gone > 0) parts.push(`${number(gone)} no longer in it (to be sent again, or dropped)`);
  return `${number(sent)}: ${parts.join(', ')}`;
}

function countsOf({ counts }: BatchSummary): string | undefined {
  if (counts === undefined) return undefined;
  const { total, completed, failed } = counts;
  return `${number(completed)} completed, ${number(failed)} failed, of ${number(total)}`;
}

function costOf({ cost }: BatchSummary): string | undefined {
  if (cost === undefined) return undefined;
  const { paid, saved, estimate, inputTokens, outputTokens } = cost;
  const parts: string[] = [];
  if (paid !== undefined) parts.push(`paid ${dollars(paid)}`);
  if (saved !== undefined) parts.push(`saved ${dollars(saved)}`);
  if (estimate !== undefined) parts.push(`estimated ${dollars(estimate)}`);
  if (inputTokens !== undefined) {
    parts.push(`${number(inputTokens)} tokens in, ${number(outputTokens ?? 0)} out`);
  }
  return parts.length === 0 ? undefined : parts.join(', ');
}
