import type { Batcher } from '../batchers/batcher.ts';
import type { ResolvedOptions } from '../options/index.ts';
import type { Target } from '../orchestrator/capture/router.ts';
import { answerHeaders } from '../orchestrator/model/answer-headers.ts';
import { tell } from '../orchestrator/model/events.ts';
import { ownAnswer } from '../orchestrator/model/own-answer.ts';
import { warnOnce } from '../report/warn-once.ts';
import type { Answer } from '../types.ts';
import type { ScopeEvents } from './scope-events.ts';

/** Why a call is not batched, and what helps. */
export interface BypassReason {
  readonly reason: string;
  readonly cure: string;
  /** Said once for each of these. Missing: once for each text. */
  readonly topic?: string;
}

/** LLM calls of a scope that go out at full price, and what the user hears of it. */
export class Bypasses {
  readonly #options: ResolvedOptions;
  readonly #events: ScopeEvents;

  constructor(options: ResolvedOptions, events: ScopeEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Tells that a call is not batched; the answer if that is not to be. */
  bypassed({ batcher }: Target, url: string, reason: string): Answer | undefined {
    const cure = 'Wrap it in realtime() to say that this is meant.';
    const refusal = this.report(url, { reason, cure });
    return refusal === undefined ? undefined : refusalAnswer(batcher, refusal);
  }

  /** The same for a call that can still be held back: what to refuse it with, if that is not to be. */
  report(url: string, { reason, cure, topic }: BypassReason): string | undefined {
    const address = this.#tell(url, reason);
    const message = `A call to ${address} is not batched: ${reason}.`;
    if (this.#options.bypass === 'error') return `${message} ${cure}`;
    if (this.#options.bypass === 'warn') {
      warnOnce(`${message} It goes out at full price. ${cure}`, topic);
    }
    return undefined;
  }

  /** Seen only when it was gone: all that is left is to say so, with the cures. */
  escaped(url: string, also: BypassReason | undefined): void {
    const reason =
      also?.reason ??
      'its client was made before batchling was loaded, or brings its own transport';
    const cure =
      also?.cure ??
      'Run the program with node --import batchling/register, or give the client fetch: scope.fetch.';
    this.#say(url, `went out at full price: ${reason}. ${cure}`, reason, also?.topic);
  }

  /** A mocking tool got it; that one may still let it out. */
  mocked(url: string, tool: string): void {
    const reason = `${tool} is active, so the call was left to it`;
    const cure =
      'Switch it off, or give the scope a dispatcher of its own, to batch calls all the same.';
    this.#say(url, `is not batched: ${reason}. ${cure}`, reason, reason);
  }

  /** What cannot or need not be held back is told even where bypasses are errors. */
  #say(url: string, what: string, reason: string, topic: string | undefined): void {
    const address = this.#tell(url, reason);
    if (this.#options.bypass !== 'ignore') warnOnce(`A call to ${address} ${what}`, topic);
  }

  #tell(url: string, reason: string): string {
    // Neither a query nor user and password: they may hold a credential.
    const address = url.replace(/[?#].*$/, '').replace(/^(\w+:\/\/)[^/]*@/, '$1');
    tell(this.#events.emit, 'call:bypassed', { url: address, reason });
    return address;
  }
}

/** What a call gets that is not to go out at full price. */
export function refusalAnswer(batcher: Batcher, message: string): Answer {
  const answer = ownAnswer(batcher, 'unsupported', message);
  return { ...answer, headers: answerHeaders({ answer, source: 'batch', itemId: '' }) };
}
