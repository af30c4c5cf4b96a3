import { LeaseLostError } from '../../base/errors.ts';
import type { BatchEndings } from '../collect/batch-endings.ts';
import type { Batch } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { failureOf } from '../model/failure-of.ts';
import { lostTrack } from '../watch/given-up.ts';
import { WatchedBatch, type WatchServices } from '../watch/watched-batch.ts';
import { UnseenError } from './find-create.ts';
import type { Permit } from './permit.ts';

/** How a batch comes to the provider, and what it means where that fails. */
export interface BatchStart {
  /** When it resolves, the provider has the batch; or it says how the batch ended instead. */
  readonly submitted: Promise<BatchEnd | undefined>;
  /** What an error means that no rule below explains. */
  endFor(error: unknown): BatchEnd;
  /** It has been under way for a while, so it may have ended long ago. */
  readonly isOld: boolean;
}

/** The life of a batch from its plan to its end; its permit is given back in one place. */
export class BatchLife {
  readonly #context: EngineContext;
  readonly #services: WatchServices;
  readonly #endings: BatchEndings;

  constructor(context: EngineContext, services: WatchServices, endings: BatchEndings) {
    this.#context = context;
    this.#services = services;
    this.#endings = endings;
  }

  async live(batch: Batch, permit: Permit, start: BatchStart): Promise<void> {
    const end = await this.#untilItsEnd(batch, permit, start);
    // Where the engine goes down, nobody else is to begin in its place.
    if (end.is === 'stopped') return;
    try {
      await this.#endings.end(batch, permit, end);
    } finally {
      permit.release();
    }
  }

  async #untilItsEnd(batch: Batch, permit: Permit, start: BatchStart): Promise<BatchEnd> {
    try {
      const end = await start.submitted;
      if (end) return end;
      const proved = () => permit.proved();
      const watched = new WatchedBatch(this.#context, this.#services, batch, proved);
      return await watched.follow({ atOnce: start.isOld });
    } catch (error) {
      return this.#endFor(batch, error, start);
    }
  }

  #endFor(batch: Batch, error: unknown, start: BatchStart): BatchEnd {
    if (this.#context.stopped.aborted) return { is: 'stopped' };
    if (error instanceof LeaseLostError) return { is: 'lost' };
    // It does not count as refused: it may be accepted, so a later run has to look for it.
    if (error instanceof UnseenError) return { is: 'given up', answer: error.answer };
    // The provider has it, so it may be paid for: nothing of it is sent again.
    if (batch.remote) return lostTrack(batch, error);
    const failure = failureOf(error);
    if (failure === undefined) return start.endFor(error);
    // There was no room for as long as we had patience.
    const next = failure.next === 'later' ? 'fail' : failure.next;
    return { is: 'refused', failure: { ...failure, next } };
  }
}
