import type { World } from '../world.ts';
import type { Batch, BatchLine, Ending, Outcome, Phase } from './batch.ts';
import type { BatchError } from './batch-script.ts';
import { addResult, type BatchWire } from './batch-wire.ts';
import { executeLines } from './execute-lines.ts';

/** Takes a batch from its creation to its end. */
export async function liveBatch<Details>(
  world: World,
  wire: BatchWire<Details>,
  batch: Batch<Details>,
): Promise<void> {
  const { settings } = world;
  const { script } = batch;
  await stay(world, batch, 'validating', settings.speed.validating);
  const prepared = await wire.prepare(batch);
  if (Array.isArray(prepared)) adopt(batch, prepared);
  if (batch.cancel.requested) return endCancelled(world, wire, batch);
  if (!Array.isArray(prepared)) return fail(world, batch, prepared.errors);
  if (script.outcome === 'failed' && wire.failsAsWhole) return fail(world, batch, scripted(batch));

  if (script.forgotten) return;
  enter(world, batch, 'in_progress');
  wire.started?.(batch);
  // Results that can be read early are shuffled here: later their file may only grow.
  if (wire.isReadEarly?.()) world.random.shuffle(batch.lines);
  await executeLines(world, wire, batch, Math.round(batch.total * executedShare(batch)));
  if (script.stuckIn === 'in_progress') await batch.cancel.whenRequested;
  if (script.outcome === 'cancelled') requestCancel(world, batch);
  if (batch.cancel.requested) return endCancelled(world, wire, batch);

  const isExpired = batch.lines.length > 0 && script.outcome === undefined;
  await stay(world, batch, 'finalizing', settings.speed.finalizing);
  if (batch.cancel.requested) return endCancelled(world, wire, batch);
  if (script.outcome !== 'failed') {
    const ending = script.outcome ?? (isExpired ? 'expired' : 'completed');
    return finish(world, wire, batch, ending, { kind: 'expired' });
  }
  const message = scripted(batch)[0]?.message ?? '';
  await finish(world, wire, batch, 'completed', { kind: 'refused', status: 500, message });
}

function executedShare({ script }: Batch): number {
  if (script.outcome === undefined) return 1;
  return script.outcome === 'failed' ? 0 : (script.completedFraction ?? 0.5);
}

function scripted({ script }: Batch): BatchError[] {
  return script.errors ?? [{ code: 'scripted_failure', message: 'scripted failure' }];
}

/** The client's wish; the batch's own life notices and ends it. */
export function requestCancel(world: World, batch: Batch): void {
  if (batch.cancel.requested || batch.phase === 'ended') return;
  enter(world, batch, 'cancelling');
  batch.cancel.request();
}

async function endCancelled<Details>(
  world: World,
  wire: BatchWire<Details>,
  batch: Batch<Details>,
): Promise<void> {
  await world.clock.sleep(world.settings.speed.cancelling);
  if (batch.script.stuckIn === 'cancelling') return;
  await finish(world, wire, batch, 'cancelled', { kind: 'canceled' });
}

async function finish<Details>(
  world: World,
  wire: BatchWire<Details>,
  batch: Batch<Details>,
  ending: Ending,
  outcomeOfRest: Outcome,
): Promise<void> {
  const pause = world.clock.slices();
  for (const line of batch.lines) {
    addResult(wire, batch, line.customId, outcomeOfRest);
    await pause();
  }
  if (!wire.isReadEarly?.()) world.random.shuffle(batch.results.answered);
  world.random.shuffle(batch.results.failed);
  await wire.publish(batch);
  end(world, batch, ending);
}

function fail(world: World, batch: Batch, errors: BatchError[]): void {
  batch.errors = errors;
  batch.total = 0;
  end(world, batch, 'failed');
}

function end(world: World, batch: Batch, ending: Ending): void {
  enter(world, batch, 'ended');
  batch.ending = ending;
  batch.reachedAt[ending] = world.clock.now();
  batch.lines = [];
  batch.results = { answered: [], failed: [] };
}

function adopt(batch: Batch, lines: BatchLine[]): void {
  batch.lines = lines;
  batch.total = lines.length;
  batch.requests = lines.length;
  batch.errors = batch.script.errors ?? [];
}

function enter(world: World, batch: Batch, phase: Phase): void {
  batch.phase = phase;
  batch.reachedAt[phase] ??= world.clock.now();
}

async function stay(world: World, batch: Batch, phase: Phase, ms: number): Promise<void> {
  if (batch.cancel.requested) return;
  enter(world, batch, phase);
  const stuck = batch.script.stuckIn === phase;
  const { whenRequested } = batch.cancel;
  await (stuck ? whenRequested : Promise.race([world.clock.sleep(ms), whenRequested]));
}
