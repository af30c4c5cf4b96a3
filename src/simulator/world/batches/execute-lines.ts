import { type Dialect, type Executed, execute } from '../model/execute.ts';
import { newId } from '../random.ts';
import type { World } from '../world.ts';
import type { Batch, BatchLine } from './batch.ts';
import { addResult, type BatchWire, countOutcome, fileLine } from './batch-wire.ts';

const shortestTick = 5;
/** Finer steps would show nothing more. */
const steps = 50;

/**
 * Works off the first `goal` lines, evenly over the running time, so that counts move and a
 * cancel finds the batch half done. Nothing is executed while the gate is held.
 */
export async function executeLines<Details>(
  world: World,
  wire: BatchWire<Details>,
  batch: Batch<Details>,
  goal: number,
): Promise<void> {
  const { clock, gate, settings } = world;
  const { cancel } = batch;
  const dialect = wire.dialect(batch);
  const lines = batch.lines;
  const pause = clock.slices();
  const began = clock.now();
  const tick = () => Math.max(shortestTick, settings.speed.running / steps);
  const elapsed = () =>
    settings.speed.running === 0 ? 1 : Math.min(1, (clock.now() - began) / settings.speed.running);

  const thinking: Promise<void>[] = [];
  const expired = () => clock.now() - batch.createdAt >= settings.expiresAfter;
  let done = 0;
  // Nothing is done at the very beginning, also where that takes a millisecond.
  let share = settings.speed.running === 0 ? 1 : 0;
  while (!cancel.requested && !expired()) {
    if (gate.held) {
      await Promise.race([gate.pass(), cancel.whenRequested]);
      share = elapsed();
    }
    const due = Math.ceil(goal * share);
    while (done < due && !cancel.requested && !gate.held) {
      const line = executeLine(world, wire, batch, dialect, lines[done] as BatchLine);
      if (line !== undefined) thinking.push(line);
      done += 1;
      await pause();
    }
    if (gate.held) continue;
    if (share === 1 && done >= goal) break;
    await Promise.race([clock.sleep(tick()), cancel.whenRequested]);
    share = elapsed();
  }
  batch.lines = lines.slice(done);
  // An answer function may take its time, for all lines at once.
  if (thinking.length > 0) await Promise.all(thinking);
}

function executeLine<Details>(
  world: World,
  wire: BatchWire<Details>,
  batch: Batch<Details>,
  dialect: Dialect,
  line: BatchLine,
): Promise<void> | undefined {
  const { account, foreign, id: batchId } = batch;
  const executed = execute(world, dialect, {
    ...line,
    account,
    batchId,
    tier: 'batch',
    foreign,
  });
  if (executed instanceof Promise) {
    return executed.then((late) => fileExecuted(wire, batch, line, late));
  }
  fileExecuted(wire, batch, line, executed);
  return undefined;
}

function fileExecuted<Details>(
  wire: BatchWire<Details>,
  batch: Batch<Details>,
  line: BatchLine,
  { outcome, spoiled, inputTokens, outputTokens }: Executed,
): void {
  batch.tokens.input += inputTokens;
  batch.tokens.output += outputTokens;
  switch (spoiled) {
    case 'missing':
      countOutcome(batch, outcome);
      return;
    case 'broken':
      countOutcome(batch, outcome);
      fileLine(wire, batch, outcome, '{"id":"broken","custom_');
      return;
    case 'double':
      fileLine(wire, batch, outcome, wire.resultLine(batch, line.customId, outcome));
      break;
    case 'both': {
      const failed = { kind: 'refused', status: 500, message: 'and yet answered' } as const;
      fileLine(wire, batch, failed, wire.resultLine(batch, line.customId, failed));
      break;
    }
    case 'foreign':
      fileLine(wire, batch, outcome, wire.resultLine(batch, newId('unknown-'), outcome));
  }
  addResult(wire, batch, line.customId, outcome);
}
