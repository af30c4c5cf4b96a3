import type { EngineContext } from '../model/engine-context.ts';
import type { CallLine } from './call-line.ts';

/** A shorter wait for room is not worth a line. */
const longWait = 30_000;

/**
 * Waits until the room of a line opens. People are told of a long wait: their display would stand still. Where nobody
 * is reached they know it already.
 */
export function roomOpened(
  { troubles }: Pick<EngineContext, 'troubles'>,
  { queue, lane, room, next }: CallLine,
  closed: AbortSignal,
): Promise<void> {
  const opened = room.opened(closed);
  if (room.pause < longWait || room.isUnreachable) return opened;
  const { batcher, wire, model } = queue;
  const { name: provider } = batcher.info;
  const where = lane === 'flex' ? 'in its flex tier' : 'now';
  const text = () =>
    `${provider} has no room for calls to ${model} ${where}: they wait, and are tried again. Nothing is lost`;
  const scopes = next ? [next.scope] : [];
  const concerned = { wire, scopes, waits: { provider, model } };
  return troubles.whileWaiting(concerned, `${lane} ${model}`, text, opened);
}
