import type { ResolvedOptions } from './options.ts';
import { answerHeaders } from './orchestrator/answer-headers.ts';
import { ownAnswer } from './orchestrator/answers.ts';
import { tell } from './orchestrator/events.ts';
import type { Target } from './orchestrator/router.ts';
import { warnOnce } from './report/warn-once.ts';
import type { ScopeEvents } from './scope-events.ts';
import type { Answer } from './types.ts';

/** LLM calls of a scope that go out at full price, and what the user hears of it. */
export class Bypasses {
  readonly #options: ResolvedOptions;
  readonly #events: ScopeEvents;

  constructor(options: ResolvedOptions, events: ScopeEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Tells that a call is not batched; the answer if that is not to be. */
  bypassed(target: Target, url: string, reason: string): Answer | undefined {
    const address = url.replace(/[?#].*$/, '');
    const event = { url: address, reason };
    tell(this.#events.emit, 'call:bypassed', event);
    const message = `A call to ${address} cannot be batched: ${reason}.`;
    if (this.#options.bypass === 'error') {
      const answer = ownAnswer(target.batcher, 'unsupported', message);
      return { ...answer, headers: answerHeaders({ answer, source: 'batch', itemId: '' }) };
    }
    if (this.#options.bypass === 'warn') {
      const cure = 'It goes out at full price; wrap it in realtime() to say that this is meant.';
      warnOnce(`${message} ${cure}`);
    }
    return undefined;
  }

  /** Seen only when it was gone: all that is left is to say so, with the cures. */
  escaped(url: string): void {
    const address = url.replace(/[?#].*$/, '');
    const reason = 'its client was made before batchling was loaded, or brings its own transport';
    const event = { url: address, reason };
    tell(this.#events.emit, 'call:bypassed', event);
    if (this.#options.bypass === 'ignore') return;
    warnOnce(
      `A call to ${address} went out at full price: ${reason}. Run the program with ` +
        'node --import batchling/register, or give the client fetch: scope.fetch.',
    );
  }
}
