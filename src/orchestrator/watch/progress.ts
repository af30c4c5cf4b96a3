import type { BatchFailure, Remote } from '../../batchers/batcher.ts';
import type { Batch } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { WatchedBatch, type WatchServices } from './watched-batch.ts';
import { Watcher } from './watcher.ts';

/** Follows the batches that providers have, each to its end. */
export class Progress {
  readonly #context: EngineContext;
  readonly #services: WatchServices;
  readonly #watcher: Watcher;
  readonly #watched = new Map<Batch, WatchedBatch>();

  constructor(
    context: EngineContext,
    services: Pick<WatchServices, 'collector' | 'deadlines' | 'cancelTwins'>,
  ) {
    this.#context = context;
    this.#watcher = new Watcher(
      context,
      (batch: Batch, remote: Remote) => this.#watched.get(batch)?.seen(remote),
      (batch: Batch, denied: BatchFailure | undefined, error: unknown) =>
        this.#watched.get(batch)?.unread(denied, error),
    );
    this.#services = {
      ...services,
      watch: (batch) => this.#watcher.watch(batch),
      unwatch: (batch) => this.#watcher.unwatch(batch),
    };
  }

  /** `atOnce`: it has been under way for a while, so it may have ended long ago. */
  async follow(
    batch: Batch,
    onProved: () => void,
    { atOnce }: { readonly atOnce: boolean },
  ): Promise<BatchEnd> {
    const watched = new WatchedBatch(this.#context, this.#services, batch, onProved);
    this.#watched.set(batch, watched);
    // Accepted or taken over while the engine goes down: the ledger keeps it for the next one.
    if (!this.#watcher.watch(batch, { atOnce })) watched.close();
    try {
      return await watched.ended;
    } finally {
      this.#watched.delete(batch);
    }
  }

  close(): void {
    this.#watcher.close();
    for (const watched of this.#watched.values()) watched.close();
  }
}
