import { messageOf } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import type { Answer, Dict } from '../../base/types.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import { costOf } from '../../orchestrator/answer/answer-cost.ts';
import { endRealtimeCall } from '../../orchestrator/answer/realtime-end.ts';
import type { RealtimeRoute } from '../../orchestrator/model/call.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import type { LineCall } from './line-call.ts';
import { ownError } from './own-error.ts';

/** The most that one ordinary call may take. */
const timeLimit = 10 * 60_000;

/** Sends lines as ordinary calls, where the options ask for it: at a deadline, or because a batch would be too small. */
export class RealtimeSender {
  readonly #slots = new Semaphore();
  readonly #atOnce: number;
  readonly #stopped: AbortSignal;

  constructor(atOnce: number, stopped: AbortSignal) {
    this.#atOnce = atOnce;
    this.#stopped = stopped;
  }

  async send({ target, headers, body, scope }: LineCall, route: RealtimeRoute): Promise<Answer> {
    try {
      await this.#slots.acquire(this.#atOnce, this.#stopped);
      try {
        // A line that waits for its turn holds no money: the job may be stopped before.
        const refused = await route.spending?.reserve();
        if (refused !== undefined) return ownError(402, 'batchling_budget', refused);
        const answer = await this.#fetch(target.url, headers, body);
        await loadPrices().catch(() => undefined);
        const cost = costOf(route, parseJson(answer.body));
        endRealtimeCall(route, scope.emit, answer.status, cost);
        return answer;
      } finally {
        this.#slots.release();
      }
    } catch (error) {
      return ownError(502, 'batchling_missing', `The ordinary call failed: ${messageOf(error)}`);
    }
  }

  async #fetch(url: string, headers: Dict, body: string): Promise<Answer> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      // A key goes to the provider that it belongs to, and nowhere else.
      redirect: 'error',
      signal: AbortSignal.any([this.#stopped, AbortSignal.timeout(timeLimit)]),
    });
    const told = Object.fromEntries(response.headers);
    return { status: response.status, headers: told, body: await response.text() };
  }
}
