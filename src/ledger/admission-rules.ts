import type { Answer } from '../base/types.ts';
import type { Ask, Look, OwnerId } from './ledger.ts';

/** Never the id of an owner: what belongs to it can be claimed. */
export const nobody: OwnerId = 0;

export type RequestState = 'admitted' | 'planned' | 'answered' | 'failed';

/** The owner of a known request, as the owner that asks sees it. */
export interface Standing {
  readonly isMe: boolean;
  readonly sameRun: boolean;
  /** It has left: its part of its run is finished. */
  readonly closed: boolean;
  /** False once it has left, and when it counts as gone. */
  readonly alive: boolean;
}

export interface KnownRequest {
  readonly state: RequestState;
  /** The bytes of the answer are still stored. */
  readonly hasAnswer: boolean;
}

/**
 * - `serve`: hand out the stored answer. `adopt`: first make the asker its owner.
 * - `wait`: another owner, or the asker itself, sends the request or has sent it.
 * - `take`: the request is admitted again, for the asker to send.
 * - `renew`: its next generation is admitted, for the asker to send; the row stays as it is.
 */
export type Decision = 'serve' | 'adopt' | 'wait' | 'take' | 'renew';

/** Decides about the newest generation of a request that is known already. */
export function decide(
  known: KnownRequest,
  ask: Pick<Ask, 'cache' | 'waiting' | 'returning'>,
  standing: () => Standing,
): Decision {
  switch (known.state) {
    case 'planned':
      return 'wait';
    case 'admitted':
      return standing().alive && !(ask.returning && standing().isMe) ? 'wait' : 'take';
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
  // The asker becomes the owner of a killed run's answer, so that it is finished when the asker is.
  // Otherwise a later run with `cache: false` would still take it for the answer of a run to continue.
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
 * Whether an asker that wants no answers of finished runs gets this one all the same. An asker that was
 * told to wait gets it even if its owner has left meanwhile: it was paid for this asker, too.
 */
function counts(ask: Pick<Ask, 'waiting'>, owner: Standing): boolean {
  return owner.isMe || owner.sameRun || !owner.closed || ask.waiting === true;
}

/**
 * How often a request counts as tried when its next owner takes it. A request that was left between two
 * attempts goes on counting; one that had its outcome starts anew.
 */
export function attemptsBefore(state: RequestState, attempt: number): number {
  return state === 'admitted' ? attempt : 0;
}

export function isServed(decision: Decision | undefined): boolean {
  return decision === 'serve' || decision === 'adopt';
}

/** Tells of a decision that is not carried out. */
export function lookOf(decision: Decision | undefined, answer: Answer | undefined): Look {
  if (decision === 'wait') return { is: 'wait' };
  return isServed(decision) && answer ? { is: 'answered', answer } : { is: 'new' };
}
