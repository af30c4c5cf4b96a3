import { invariant } from '../../base/errors.ts';
import type { Admission, Ledger } from '../../ledger/ledger.ts';
import type { CapturedCall } from '../model/call.ts';
import type { Request } from '../model/request.ts';
import type { BodyStore } from '../model/request-queue.ts';

/** Bodies of unanswered requests that may stay in memory; beyond it they go to the ledger. */
const memoryBudget = 64 * 1024 * 1024;

interface Asked {
  readonly caller: { readonly call: Pick<CapturedCall, 'sampling'> };
  readonly request: Request;
}

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
    await this.#write(written);
    for (const request of beyond) request.body = undefined;
  }

  /**
   * Writes down the bodies of requests that another process may have to go on with, and tells the calls that have
   * asked for it. Nearly no call does.
   */
  async share(asked: readonly Asked[], admissions: readonly Admission[]): Promise<void> {
    const isShared = ({ caller }: Asked) => caller.call.sampling?.kept !== undefined;
    if (!asked.some(isShared)) return;
    const open = asked.filter(
      (one, index) => isShared(one) && admissions[index]?.is !== 'answered',
    );
    await this.#write(open.map(({ request }) => request));
    const shared = asked.filter(isShared);
    for (const { caller, request } of shared) {
      const { row, fingerprint, occurrence } = request;
      const parts = shared.filter((other) => other.caller.call === caller.call).length;
      caller.call.sampling?.kept?.({ row, fingerprint, occurrence, parts });
    }
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

  #write(requests: readonly Request[]): Promise<void> {
    return this.#ledger.spool(
      requests.map(({ row, body }) => ({ request: row, body: body as string })),
    );
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
