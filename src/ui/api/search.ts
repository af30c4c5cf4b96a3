import { Slice } from '../../concurrency/event-loop.ts';
import type { FoundRequest, LedgerReader } from '../../ledger/view.ts';
import type { FoundJson, SearchJson } from '../api-types.ts';
import { wordsOf } from '../readable/readable.ts';
import { memberJson } from './member-json.ts';
import { wholeNumber } from './whole-number.ts';

/** A page of requests is read in one piece: few at first, then as many as have about this much text. */
const fewest = 5;
const most = 200;
const charactersAtOnce = 1_000_000;
const mostFound = 30;
const aroundIt = 120;

/**
 * Requests whose question or answer has all of the words, the newest first. It looks for `patience` milliseconds; the
 * next page goes on where it stopped.
 */
export async function search(
  { view }: LedgerReader,
  query: URLSearchParams,
  patience: number,
): Promise<SearchJson> {
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const found: FoundJson[] = [];
  let before = wholeNumber(query, 'before');
  let looked = 0;
  let hasQuestions = false;
  const startedAt = performance.now();
  const slice = new Slice();
  let limit = fewest;
  while (words.length > 0) {
    const page = await view.requests({ limit, ...(before !== undefined && { before }) });
    await slice.next();
    let characters = 0;
    for (const one of page) {
      if (slice.isOver) await slice.next();
      looked += 1;
      characters += (one.body?.length ?? 0) + (one.answer?.body.length ?? 0);
      before = one.request;
      hasQuestions ||= one.body !== undefined;
      const hit = find(one, words);
      if (hit) found.push(hit);
      if (found.length === mostFound) return { found, looked, hasQuestions, next: before };
    }
    if (page.length < limit) return { found, looked, hasQuestions };
    if (performance.now() - startedAt > patience) break;
    const fitting = Math.floor((charactersAtOnce * page.length) / Math.max(1, characters));
    limit = Math.min(most, limit * 2, Math.max(1, fitting));
  }
  return { found, looked, hasQuestions, ...(before !== undefined && { next: before }) };
}

/** Words of these characters stand in JSON as they are. */
const plainWord = /^[a-z0-9]+$/;

function find(request: FoundRequest, words: readonly string[]): FoundJson | undefined {
  const texts = [
    ['question', request.body],
    ['answer', request.answer?.body],
  ] as const;
  for (const [where, raw] of texts) {
    if (raw === undefined) continue;
    // Taking JSON apart costs far more than looking through it.
    const all = raw.toLowerCase();
    if (words.some((word) => plainWord.test(word) && !all.includes(word))) continue;
    const text = wordsOf(where, raw);
    const lower = text.toLowerCase();
    if (!words.every((word) => lower.includes(word))) continue;
    const at = Math.max(0, lower.indexOf(words[0] as string) - aroundIt / 2);
    const around = text.slice(at, at + aroundIt * 2).replace(/\s+/g, ' ');
    const { provider, model, batch } = request;
    return {
      ...memberJson(request),
      provider,
      model,
      where,
      around: `${at > 0 ? '…' : ''}${around.trim()}`,
      ...(batch && { batch: batch.token }),
    };
  }
  return undefined;
}
