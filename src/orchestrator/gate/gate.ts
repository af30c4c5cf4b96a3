import { invariant } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { Request } from '../model/request.ts';

/**
 * Where a gate is:
 * - `closed`: its requests wait for the outcome of one of them, the pilot, which was sent alone. Without a
 *   pilot it is still to be decided whether one is needed.
 * - `open`: requests go on.
 * - `refused`: the provider refused the pilot, and would refuse all of them.
 */
export type GateState =
  | { readonly is: 'closed'; readonly pilot: Request | undefined }
  | { readonly is: 'open' }
  | { readonly is: 'refused'; readonly answer: Answer };

/** The states that may follow each state. A pilot that leaves is followed by another one. */
export const gateMoves: Readonly<Record<GateState['is'], readonly GateState['is'][]>> = {
  closed: ['closed', 'open', 'refused'],
  // The cache of a group has gone cold.
  open: ['closed'],
  refused: [],
};

/** Requests of which one goes ahead of the others. */
export class Gate {
  #state: GateState = { is: 'closed', pilot: undefined };
  #held: Request[] = [];

  get state(): GateState {
    return this.#state;
  }

  moveTo(state: GateState): void {
    const { is } = this.#state;
    invariant(gateMoves[is].includes(state.is), `A gate cannot go from ${is} to ${state.is}`);
    this.#state = state;
  }

  isPilot(request: Request): boolean {
    return this.#state.is === 'closed' && this.#state.pilot === request;
  }

  hold(request: Request): void {
    this.#held.push(request);
  }

  /** Makes the first request that is still wanted the pilot; `undefined`: nobody waits here any more. */
  nextPilot(): Request | undefined {
    const at = this.#held.findIndex(({ isWantedInTime }) => isWantedInTime);
    const pilot = at < 0 ? undefined : this.#held[at];
    this.#held = at < 0 ? [] : this.#held.slice(at + 1);
    this.moveTo({ is: 'closed', pilot });
    return pilot;
  }

  /** The requests that wait here, which it lets go. */
  release(): readonly Request[] {
    const held = this.#held;
    this.#held = [];
    return held.filter(({ isWantedInTime, isUnsent }) => isWantedInTime && isUnsent);
  }
}
