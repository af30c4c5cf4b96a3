import type { World } from '../world.ts';
import { type Batch, type BatchStore, createBatch } from './batch.ts';
import { liveBatch } from './batch-life.ts';
import type { BatchWire } from './batch-wire.ts';

interface BatchStart<Details> {
  id: string;
  account: string;
  details: Details;
  now: number;
  foreign: boolean;
  /** What the provider says from the start about the number of requests. */
  total?: number;
  /** How many requests came in, where that is known before they are read. */
  requests?: number;
}

/** Creates a batch and lets it run. */
export function startBatch<Details>(
  world: World,
  wire: BatchWire<Details>,
  store: BatchStore<Details>,
  start: BatchStart<Details>,
): Batch<Details> {
  const { listLag } = world.settings;
  const script = start.foreign ? {} : world.faults.takeScript();
  const { total = 0, requests = total } = start;
  const batch = createBatch({ ...start, total, requests, listLag, script });
  store.add(batch);
  void liveBatch(world, wire, batch).then(() => wire.ended?.(batch));
  return batch;
}

/** Starts the client's own batch, and a stranger's beside it where the settings want one. */
export function startAccompanied<Own>(
  world: World,
  startOwn: (now: number) => Own,
  startForeign: (now: number) => unknown,
): Own {
  const now = world.clock.now();
  if (!world.settings.foreignBatches) return startOwn(now);
  // The stranger's batch is older at times and newer at times: its place proves nothing.
  const isForeignFirst = world.random.next() < 0.5;
  if (isForeignFirst) startForeign(now);
  const own = startOwn(now);
  if (!isForeignFirst) startForeign(now);
  return own;
}
