import type { OwnerId, RequestId } from '../../ledger.ts';
import type { Pace } from '../connection/pace.ts';
import type { BlockId } from './answers.ts';

/** A block of answers that rows of requests do not know yet. */
export interface NewBlock {
  readonly block: BlockId;
  readonly state: number;
  readonly owner: OwnerId;
  readonly at: number;
  /** A JSON list; `null`: the block is gone. */
  readonly requests: string | null;
}

/** What all rows of a group are told, each with its own block. */
export interface Outcome {
  readonly state: number;
  readonly owner: OwnerId;
  at: number;
}

/** Rows that are told in one transaction. */
export interface Entries {
  readonly requests: readonly RequestId[];
  /** For each outcome the blocks of its requests, as a JSON object. */
  readonly blocks: ReadonlyMap<Outcome, string>;
  readonly isLast: boolean;
}

/**
 * What rows are told of these blocks, in the order of the requests: so each page of rows is written once
 * or twice, whatever the order in which answers came. Of two answers to one request the first one counts.
 * Never empty.
 */
export function* entriesOf(blocks: readonly NewBlock[], pace: Pace): Generator<Entries> {
  const outcomes = outcomesOf(blocks);
  const sorted = requestsWithPlaces(blocks).sort();
  let last: RequestId | undefined;
  let from = 0;
  do {
    const requests: RequestId[] = [];
    const pairs = new Map<Outcome, string[]>();
    const { rows } = pace;
    for (const code of sorted.subarray(from, from + rows)) {
      const place = code % blocks.length;
      const request = (code - place) / blocks.length;
      if (request === last) continue;
      last = request;
      requests.push(request);
      const outcome = outcomes[place] as Outcome;
      const pair = `"${request}":${(blocks[place] as NewBlock).block}`;
      const others = pairs.get(outcome);
      if (others) others.push(pair);
      else pairs.set(outcome, [pair]);
    }
    const texts = [...pairs].map(([outcome, list]) => [outcome, `{${list.join()}}`] as const);
    from += rows;
    yield { requests, blocks: new Map(texts), isLast: from >= sorted.length };
  } while (from < sorted.length);
}

/** One for each combination of state and owner; the moment is that of its last block. */
function outcomesOf(blocks: readonly NewBlock[]): Outcome[] {
  const known = new Map<string, Outcome>();
  return blocks.map(({ state, owner, at }) => {
    const key = `${state} ${owner}`;
    const outcome = known.get(key) ?? { state, owner, at };
    outcome.at = at;
    known.set(key, outcome);
    return outcome;
  });
}

/** Each request and the place of its block as one number, because numbers are sorted quickly. */
function requestsWithPlaces(blocks: readonly NewBlock[]): Float64Array {
  const lists = blocks.map(({ requests }) => JSON.parse(requests ?? '[]') as RequestId[]);
  const codes = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  lists.forEach((list, place) => {
    for (const request of list) {
      codes[end] = request * blocks.length + place;
      end += 1;
    }
  });
  return codes;
}
