import { invariant } from '../../errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { PendingRequest } from '../model/request.ts';

/** Bodies of unanswered requests that may stay in memory; beyond it they go to the ledger. */
const memoryBudget = 64 * 1024 * 1024;

/** Keeps bodies in memory up to a budget; a million queued calls need no million bodies there. */
export class Spool {
  readonly #ledger: Ledger;
  readonly #budget: number;
  #held = 0;

  constructor(ledger: Ledger, budget = memoryBudget) {
    this.#ledger = ledger;
    this.#budget = budget;
  }

  /** Takes requests in; what does not fit the budget is written down before it is let go. */
  async hold(requests: readonly PendingRequest[]): Promise<void> {
    const beyond: PendingRequest[] = [];
    for (const pending of requests) {
      if (this.#held + pending.bytes > this.#budget) beyond.push(pending);
      else this.#keep(pending);
    }
    if (beyond.length === 0) return;
    await this.#ledger.spool(
      beyond.map(({ request, body }) => ({ request, body: body as string })),
    );
    for (const pending of beyond) pending.body = undefined;
  }

  /** The bodies of these requests, from wherever they are. */
  async read(requests: readonly PendingRequest[]): Promise<string[]> {
    const away = requests.filter(({ body }) => body === undefined);
    const found =
      away.length === 0 ? undefined : await this.#ledger.bodies(away.map(({ request }) => request));
    return requests.map(({ body, request, id }) => {
      const text = body ?? found?.get(request);
      invariant(text !== undefined, `The body of request ${id} is not in the ledger`);
      return text;
    });
  }

  #keep(pending: PendingRequest): void {
    this.#held += pending.bytes;
    pending.held = true;
  }

  /** The request has its answer or was given up: its room is free. */
  letGo(pending: PendingRequest): void {
    // Its batch is still to be uploaded, with this line in it; others wait for theirs.
    if (pending.planning || (pending.batch && pending.batch.remote === undefined)) return;
    pending.body = undefined;
    if (!pending.held) return;
    pending.held = false;
    this.#held -= pending.bytes;
  }
}
