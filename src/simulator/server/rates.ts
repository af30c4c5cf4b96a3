import type { ProviderLimits } from '../world/settings.ts';
import { Refusal } from './exchange.ts';

const minute = 60_000;
const hour = 60 * minute;

/** What each account has asked lately; too much of it is refused, and nothing is done. */
export class Rates {
  readonly #times = new Map<string, number[]>();

  /** Counts one request, or refuses it with the time to wait. */
  demand(account: string, isCreate: boolean, limits: ProviderLimits, now: number): void {
    const { createsPerHour, requestsPerMinute } = limits;
    this.#count(`${account} requests`, requestsPerMinute, minute, now);
    if (isCreate) this.#count(`${account} creates`, createsPerHour, hour, now);
  }

  #count(key: string, most: number | undefined, span: number, now: number): void {
    if (most === undefined) return;
    const times = (this.#times.get(key) ?? []).filter((time) => now - time < span);
    this.#times.set(key, times);
    const [first] = times;
    if (times.length < most || first === undefined) {
      times.push(now);
      return;
    }
    const seconds = Math.ceil((first + span - now) / 1000);
    throw new Refusal(429, `Rate limit reached. Please try again in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}
