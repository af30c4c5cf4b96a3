import { invariant } from '../../base/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Request } from '../model/request.ts';
import type { BodyStore } from '../model/request-queue.ts';

/** Bodies of unanswered requests that may stay in memory; beyond it they go to the ledger. */
const memoryBudget = 64 * 1024 * 1024;

/** Keeps bodies in memory up to a budget; a million queued calls need no million bodies there. */
export class Spool implements BodyStore {
  readonly #ledger: Ledger;
  readonly #budget: number;
  readonly #writesAll: boolean;
  #held = 0;

  /** `writesAll`: the ledger keeps what was asked (`keep: "all"`), so every body is written down. */
  constructor(ledger: Ledger, { budget = memoryBudget, writesAll = false } = {}) {
    this.#ledger = ledger;
    this.#budget = budget;
    this.#writesAll = writesAll;
  }

  /** Takes requests in; what does not fit the budget is written down before it is let go. */
  async hold(requests: readonly Request[]): Promise<void> {
    const beyond: Request[] = [];
    for (const request of requests) {
      if (this.#held + request.bytes > this.#budget) beyond.push(request);
      else this.#keep(request);
    }
    const written = this.#writesAll ? requests : beyond;
    if (written.length === 0) return;
    await this.#ledger.spool(
      written.map(({ row, body }) => ({ request: row, body: body as string })),
    );
    for (const request of beyond) request.body = undefined;
  }

  async read(requests: readonly Request[]): Promise<string[]> {
    const away = requests.filter(({ body }) => body === undefined);
    const found =
      away.length === 0 ? undefined : await this.#ledger.bodies(away.map(({ row }) => row));
    return requests.map(({ body, row, id }) => {
      const text = body ?? found?.get(row);
      invariant(text !== undefined, `The body of request ${id} is not in the ledger`);
      return text;
    });
  }

  #keep(request: Request): void {
    this.#held += request.bytes;
    request.isHeld = true;
  }

  handOver(from: Request, to: Request): void {
    if (to.body === undefined && !to.isHeld) {
      to.body = from.body;
      to.isHeld = from.isHeld;
      from.body = undefined;
      from.isHeld = false;
    }
  }

  letGo(request: Request): void {
    const { stage, batch, isWaitedFor } = request;
    // One that is `asked` is still to be measured.
    if (isWaitedFor || stage === 'asked' || stage === 'planning') return;
    // Its batch is still to be uploaded, with this line in it; others wait for theirs.
    if (batch && batch.phase.name !== 'over' && batch.remote === undefined) return;
    request.body = undefined;
    if (!request.isHeld) return;
    request.isHeld = false;
    this.#held -= request.bytes;
  }
}
