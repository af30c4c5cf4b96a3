import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultAction, Simulator } from '../../../src/simulator/index.ts';
import type { Asker, KillPoint } from '../../support/processes/asker.ts';
import { wireOf } from '../../support/provider-wires.ts';
import type { Provider } from './scene.ts';

/**
 * How one launch of the program comes to its end: around a COMMIT of its own, when a certain request
 * of it has reached the provider, or after some milliseconds.
 */
export type Kill = KillPoint | NetworkPoint | { readonly after: number };

export interface NetworkPoint {
  readonly at: string;
  readonly method: string;
  readonly path: RegExp;
  /** What happens to that request; the kill comes while it does. */
  readonly fault?: FaultAction;
  /** Only when the provider has taken the batch. */
  readonly accepted?: boolean;
}

/** The kill comes first, on the busiest machine; nobody waits for the rest. */
const slowly: FaultAction = { kind: 'delay', ms: 20_000 };
const neverDone: FaultAction = { kind: 'hang', ms: 20_000 };

/** Of every provider. */
export function networkPoints(provider: Provider): readonly NetworkPoint[] {
  const { upload, create, poll, results } = wireOf(provider);
  const uploads: NetworkPoint[] = upload
    ? [
        { at: 'the upload is under way', ...upload, fault: neverDone },
        { at: 'the upload is stored, its answer is on the way', ...upload, fault: slowly },
      ]
    : [];
  return [
    ...uploads,
    {
      at: 'the create was accepted, its answer is on the way',
      ...create,
      fault: slowly,
      accepted: true,
    },
    {
      at: 'the create was accepted, its answer is lost',
      ...create,
      fault: { kind: 'lost' },
      accepted: true,
    },
    {
      at: 'the create was accepted, its answer is a 502',
      ...create,
      fault: { kind: 'status', status: 502, accept: true },
      accepted: true,
    },
    { at: 'the create is under way', ...create, fault: neverDone },
    { at: 'a poll is under way', ...poll, fault: slowly },
    { at: 'results are on the way', ...results, fault: slowly },
    { at: 'results broke off', ...results, fault: { kind: 'truncate' } },
  ];
}

/** The point whose name starts so. */
export function networkPoint(provider: Provider, start: string): NetworkPoint {
  const point = networkPoints(provider).find(({ at }) => at.startsWith(start));
  if (point === undefined) throw new Error(`No point starts with "${start}"`);
  return point;
}

export function nameOf(kill: Kill): string {
  if ('commit' in kill) return `${kill.when} commit ${kill.commit}`;
  return 'at' in kill ? kill.at : `after ${kill.after} ms`;
}

/** Kills the program when its time has come, unless it ends before. Returns what undoes the trap. */
export function setTrap(simulator: Simulator, kill: Kill): (asker: Asker) => Promise<void> {
  if ('commit' in kill) return () => Promise.resolve();
  if ('after' in kill) {
    return async (asker) => {
      await Promise.race([sleep(kill.after), asker.ended]);
      asker.send('SIGKILL');
    };
  }
  const { method, path, fault } = kill;
  const seen = () => simulator.countRequests(method, path);
  const taken = () => simulator.batches().filter(({ foreign }) => !foreign).length;
  const before = { seen: seen(), taken: taken() };
  const scripted = fault && simulator.faults.add({ method, path, action: fault });
  return async (asker) => {
    let over = false;
    asker.ended
      .finally(() => {
        over = true;
      })
      .catch(() => undefined);
    const isTime = () => seen() > before.seen && (!kill.accepted || taken() > before.taken);
    while (!over && !isTime()) await sleep(1);
    asker.send('SIGKILL');
    await asker.ended;
    scripted?.remove();
  };
}
