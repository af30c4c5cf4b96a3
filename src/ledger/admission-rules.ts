import type { Ask } from './ledger.ts';

export type RequestState = 'admitted' | 'planned' | 'answered' | 'failed';

/** How the owner of a known request stands to the one who asks. */
export interface Standing {
  readonly isMe: boolean;
  readonly sameRun: boolean;
  /** It left: its run is finished as far as this owner goes. */
  readonly closed: boolean;
  /** False once it left, and when its process died. */
  readonly alive: boolean;
}

export interface KnownRequest {
  readonly state: RequestState;
  /** The bytes of the answer are still stored. */
  readonly hasAnswer: boolean;
}

/**
 * - `serve`: hand out the stored answer; `adopt` first makes the asker its owner.
 * - `wait`: someone sends it or has sent it.
 * - `take`: back to admitted, ours to send.
 * - `renew`: leave the row alone and start its next generation, ours to send.
 */
export type Decision = 'serve' | 'adopt' | 'wait' | 'take' | 'renew';

/** Decides about the newest generation of a request that is known already. */
export function decide(
  known: KnownRequest,
  ask: Pick<Ask, 'cache' | 'waiting'>,
  standing: () => Standing,
): Decision {
  switch (known.state) {
    case 'planned':
      return 'wait';
    case 'admitted':
      return standing().alive ? 'wait' : 'take';
    case 'answered':
      return known.hasAnswer ? decideAnswered(ask, standing()) : decideWithoutAnswer(ask, standing);
    case 'failed':
      return known.hasAnswer && ask.waiting === true
        ? decideAnswered(ask, standing())
        : decideWithoutAnswer(ask, standing);
  }
}

function decideAnswered(ask: Pick<Ask, 'cache' | 'waiting'>, owner: Standing): Decision {
  if (!ask.cache && !counts(ask, owner)) return 'renew';
  if (owner.isMe) return 'serve';
  // The answer of a killed run becomes ours, so that it counts as finished once our run is; without
  // this a later run with `cache: false` would still take it for one to be continued.
  const killed = !owner.alive && !owner.closed;
  return killed || (!ask.cache && !owner.closed) ? 'adopt' : 'serve';
}

function decideWithoutAnswer(
  ask: Pick<Ask, 'cache' | 'waiting'>,
  standing: () => Standing,
): Decision {
  return ask.cache || counts(ask, standing()) ? 'take' : 'renew';
}

/**
 * Whether a final row is part of the work of an asker that wants no answers of finished runs. One who
 * was told to wait for it gets it even if its owner has left in the meantime: it was paid for him, too.
 */
function counts(ask: Pick<Ask, 'waiting'>, owner: Standing): boolean {
  return owner.isMe || owner.sameRun || !owner.closed || ask.waiting === true;
}

/**
 * How often a request counts as tried when its next owner takes it. One that was left between two
 * attempts goes on counting; one that had its outcome is asked for anew.
 */
export function attemptsBefore(state: RequestState, attempt: number): number {
  return state === 'admitted' ? attempt : 0;
}
