import { reportVariable } from '../../base/run-variables.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import { realtimeCure } from '../../orchestrator/capture/unbatched.ts';
import { tell } from '../../orchestrator/events/events.ts';
import type { Delivery, Only } from '../../orchestrator/model/call.ts';
import { leftOutReason } from '../../orchestrator/model/stats.ts';
import { warnOnce } from '../../report/warn-once.ts';
import type { ScopeEvents } from '../scope-events.ts';
import { ownDelivery } from './own-delivery.ts';

/** Why a call is not batched, and what the user can do about it. */
export interface BypassReason {
  readonly reason: string;
  readonly cure: string;
  /** The warning is given once per topic. Missing: once per text. */
  readonly topic?: string;
  /** The user has asked for it: it is counted, and there is no warning. */
  readonly isAsked?: true;
}

export function cannotBeBatched(reason: string): BypassReason {
  return { reason, cure: realtimeCure };
}

/** `name`: `openai:gpt-5-mini` */
export function leftOutBy(only: Only | undefined, name: string): BypassReason {
  const given = only?.text === undefined ? '' : `The option only is "${only.text}". `;
  return {
    reason: leftOutReason,
    cure:
      `${given}Let it choose ${name}, or say that this call is meant to go out at full price: wrap it in ` +
      'realtime(), or give it the header x-batchling: off.',
    isAsked: true,
  };
}

/** Reports LLM calls of a scope that go out at full price. */
export class Bypasses {
  readonly #options: ResolvedOptions;
  readonly #events: ScopeEvents;
  /** A dry run tells nobody before it has seen the whole round. */
  readonly #roundIsOver: () => Promise<void>;

  constructor(options: ResolvedOptions, events: ScopeEvents, roundIsOver: () => Promise<void>) {
    this.#options = options;
    this.#events = events;
    this.#roundIsOver = roundIsOver;
  }

  /** Reports a call that is not batched; returns its answer to come where it must not go out. */
  bypassed(target: Target, why: BypassReason): Promise<Delivery> | undefined {
    const refusal = this.report(target.url, why);
    return refusal === undefined ? undefined : this.refusal(target.batcher, refusal);
  }

  /** The answer to a call that is held back. */
  async refusal(batcher: Batcher, message: string): Promise<Delivery> {
    const { dryRun } = this.#options;
    if (dryRun) await this.#roundIsOver();
    return ownDelivery(batcher, dryRun ? 'dry_run' : 'unsupported', message);
  }

  /** Calls that are reported in time are not sent. */
  get areRefused(): boolean {
    return this.#options.dryRun !== false || this.#options.bypass === 'error';
  }

  /**
   * Reports a call that can still be held back; returns the error message where bypasses are errors, and in
   * a dry run, which sends nothing.
   */
  report(url: string, { reason, cure, topic, isAsked }: BypassReason): string | undefined {
    const isError = this.#options.bypass === 'error';
    const address = this.#emit(url, reason, !this.#options.dryRun && !isError);
    const message = `A call to ${address} is not batched: ${reason}.`;
    if (this.#options.dryRun) return `${message} This is a dry run, so it was not sent. ${cure}`;
    if (isError) return `${message} ${cure}`;
    if (this.#options.bypass === 'warn' && !isAsked) {
      warnOnce(`${message} It goes out at full price. ${cure}`, topic);
    }
    return undefined;
  }

  /** Reports a call that has left already. `known`: its reason, where there is a better one. */
  escaped(url: string, known: BypassReason | undefined): void {
    const reason =
      known?.reason ??
      'its client was made before batchling was loaded, or brings its own transport';
    const cure =
      known?.cure ??
      'Run the program with node --import batchling/register, or give the client fetch: scope.fetch.';
    this.#warn(url, `went out at full price: ${reason}. ${cure}`, reason, known?.topic);
  }

  /** Reports a call that was left to a mocking tool. */
  mocked(url: string, tool: string): void {
    const reason = `${tool} is active, so the call was left to it`;
    const cure =
      'Switch it off, or give the scope a dispatcher of its own, to batch calls all the same.';
    this.#warn(url, `is not batched: ${reason}. ${cure}`, reason, reason);
  }

  /** Warns even where bypasses are errors: such a call cannot or need not be held back. */
  #warn(url: string, what: string, reason: string, topic: string | undefined): void {
    const address = this.#emit(url, reason, true);
    if (this.#options.bypass !== 'ignore') warnOnce(`A call to ${address} ${what}`, topic);
  }

  #emit(url: string, reason: string, sent: boolean): string {
    // Without query, user and password: they may hold a credential.
    const address = url.replace(/[?#].*$/, '').replace(/^(\w+:\/\/)[^/]*@/, '$1');
    tell(this.#events.emit, 'call:bypassed', { url: address, reason, sent });
    // A program may do nothing else, so that no engine opens the display; its run counts them all the same.
    const { dryRun, logger } = this.#options;
    if (process.env[reportVariable] && !dryRun) {
      this.#events
        .show(this.#options)
        .catch((error: unknown) => logger.error('batchling could not open its display', { error }));
    }
    return address;
  }
}
