import type { Answer } from '../../base/types.ts';
import type { Batch } from '../model/batch.ts';
import type { Caller } from '../model/caller.ts';
import type { Request } from '../model/request.ts';

/** A batch that its callers have left to the ledger. */
export interface LeftBatch {
  readonly token: string;
  readonly count: number;
  /** Resolves when it is over for this process. */
  readonly over: Promise<void>;
  /** Each of its lines has its final answer in the ledger. */
  readonly isAnswered: boolean;
  /** Some of its lines are to be sent again; the others have their final answers. */
  readonly isRetried: boolean;
  /** What its callers would have been told, if it was given up. */
  readonly answer: Answer | undefined;
}

/**
 * Lets go of callers that come back for their answers. A batch that they all have left keeps no line in memory while
 * it runs: a line costs a row of the ledger. Only callers whose requests are all in batches under way, and which no
 * others wait for, are let go; the others are returned in `staying`.
 */
export function leaveCalls(callers: readonly Caller[]): {
  readonly left: readonly LeftBatch[];
  readonly staying: readonly Caller[];
} {
  const batches = new Set<Batch>();
  const staying: Caller[] = [];
  for (const caller of callers) {
    const parts = caller.parts ?? [caller];
    const requests = parts.flatMap(({ request, isSettled }) => (isSettled ? [] : (request ?? [])));
    if (requests.length === 0 || !requests.every(mayBeLeft)) {
      staying.push(caller);
      continue;
    }
    for (const request of requests) {
      if (request.batch) batches.add(request.batch);
      request.queue.gate?.left(request);
    }
    for (const part of parts) part.request?.settle(part);
  }
  for (const batch of batches) batch.leaveLines();
  return { left: [...batches].map(leftBatch), staying };
}

/** Lines of a batch that may have a twin are needed to tell the two apart. */
function mayBeLeft(request: Request): boolean {
  const { batch, queue } = request;
  return batch?.isUnderWay === true && !batch.mayHaveTwins && !queue.gate?.isAhead(request);
}

export function leftBatch(batch: Batch): LeftBatch {
  const { token, over, count } = batch;
  return {
    token,
    count,
    over,
    get isAnswered() {
      return batch.isAnswered;
    },
    get isRetried() {
      return batch.linesToSendAgain > 0;
    },
    get answer() {
      return batch.phase.name === 'over' ? batch.phase.answer : undefined;
    },
  };
}
