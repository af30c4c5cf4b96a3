import type { Dispatcher } from 'undici';
import { untraced } from '../base/call-tracing.ts';
import { messageOf } from '../base/errors.ts';
import type { Clock, Logger } from '../base/types.ts';
import { createAgent } from '../http/agent.ts';
import type { DueMessage, Outbox } from '../ledger/ledger.ts';
import { checkedLookup } from './checked-lookup.ts';
import { type Delivery, deliver } from './deliver.ts';
import { pauseAfter } from './retry-times.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Messages that one process sends at a time, and how long it has for them: more than one may take. */
const atOnce = 8;
const lease = 60_000;
/** Another process may add messages, which only the ledger knows of. */
const longestPause = 60_000;

export interface SenderOptions {
  readonly outbox: Outbox;
  /** The receiver of the messages, as the outbox has it. */
  readonly target: string;
  readonly url: URL;
  readonly keys: SigningKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Tells a person, once. */
  warn(text: string): void;
}

/** Sends what the outbox holds for one receiver, whichever process has put it there, until it is closed. */
export class WebhookSender {
  readonly #options: SenderOptions;
  #dispatcher: Promise<Dispatcher> | undefined;
  #sending: Promise<void> | undefined;
  #isAskedAgain = false;
  #isClosed = false;
  #timer: unknown;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Looks what is due, and once more if this is called meanwhile. Resolves when all that is due now has had its try. */
  send(): Promise<void> {
    this.#isAskedAgain = true;
    this.#sending ??= this.#round().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
    await (await this.#dispatcher?.catch(() => undefined))?.destroy();
  }

  async #round(): Promise<void> {
    const { outbox, target, clock, logger } = this.#options;
    clock.clearTimeout(this.#timer);
    let next: number | undefined;
    try {
      while (this.#isAskedAgain && !this.#isClosed) {
        this.#isAskedAgain = false;
        const due = await outbox.take(target, { lease, limit: atOnce });
        next = due.next;
        await Promise.all(due.messages.map((message) => this.#deliver(message)));
        // There may be more than were taken at once, and a failed one has a pause of its own now.
        if (due.messages.length > 0) this.#isAskedAgain = true;
      }
    } catch (error) {
      logger.warn('batchling could not read its outbox', { error });
    }
    if (this.#isClosed) return;
    const pause = Math.min(next ?? longestPause, longestPause);
    this.#timer = clock.setTimeout(() => void this.send(), Math.max(pause, 100));
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #deliver(message: DueMessage): Promise<void> {
    const { outbox, clock, url, keys } = this.#options;
    const delivery = await this.#attempt(message, { url, keys }, clock.now());
    // What a process that goes down has not sent is due again when the lease is over.
    if (this.#isClosed && delivery.is !== 'delivered') return;
    const again =
      delivery.is === 'failed' ? pauseAfter(message.attempt, delivery.retryAfter) : undefined;
    if (delivery.is !== 'delivered') this.#tell(delivery.why, again);
    await outbox.settle(message.id, again);
  }

  async #attempt(
    message: DueMessage,
    { url, keys }: { url: URL; keys: SigningKeys },
    now: number,
  ): Promise<Delivery> {
    try {
      this.#dispatcher ??= createAgent(10_000, { lookup: checkedLookup(url), holdsProcess: false });
      const receiver = { url, keys, dispatcher: await this.#dispatcher };
      return await untraced(() => deliver(receiver, message, now));
    } catch (error) {
      return { is: 'failed', why: messageOf(error) };
    }
  }

  /** The path of the address may be a secret. */
  #tell(why: string, again: number | undefined): void {
    const { url, warn } = this.#options;
    const then =
      again === undefined
        ? 'It is not tried again'
        : 'It is tried again for three days, by this process or the next one with the same webhook and ledger';
    warn(`The webhook at ${url.host} could not be told: ${why}. ${then}.`);
  }
}
