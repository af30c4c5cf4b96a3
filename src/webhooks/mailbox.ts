import { createHash, randomUUID } from 'node:crypto';
import { webhookSecretVariable } from '../base/run-variables.ts';
import type { Clock, Logger } from '../base/types.ts';
import type { Outbox, OutboxMessage } from '../ledger/ledger.ts';
import type { WebhookSender } from './sender.ts';
import { signingKeys } from './signing-keys.ts';

/** What receivers of webhooks are told. */
export type NewsType = 'batch.collected' | 'batch.failed' | 'batch.slow' | 'run.done';

export interface MailboxOptions {
  readonly outbox: Outbox;
  /** Random bytes of the ledger, which key the hash of an address. */
  readonly salt: Uint8Array;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Tells a person, once. */
  warn(text: string): void;
}

/** The webhooks of a process on one ledger: writes messages for them, and has them sent. Nothing waits for it. */
export class Mailbox {
  readonly #options: MailboxOptions;
  readonly #senders = new Map<string, Promise<WebhookSender>>();

  constructor(options: MailboxOptions) {
    this.#options = options;
  }

  /** The webhooks that this process sends for. */
  get webhooks(): readonly string[] {
    return [...this.#senders.keys()];
  }

  /** Sends what waits for this one, also what other processes have left. */
  use(webhook: string): void {
    if (!this.#senders.has(webhook)) this.#senders.set(webhook, this.#open(webhook));
    void this.#send(webhook);
  }

  /** `about`: what it tells of. The same news has the same id, whoever tells it. */
  message(webhook: string, type: NewsType, about: string, data: object): OutboxMessage {
    const target = this.#targetOf(webhook);
    const id = `msg_${this.#hash(`${target}\n${type}\n${about}`)}`;
    const timestamp = new Date(this.#options.clock.now()).toISOString();
    return { id, target, body: JSON.stringify({ type, timestamp, data }) };
  }

  /** Tells all webhooks of this process that its run is over. */
  async runDone(data: object): Promise<void> {
    const about = randomUUID();
    await this.post(this.webhooks.map((webhook) => this.message(webhook, 'run.done', about, data)));
  }

  async post(messages: readonly OutboxMessage[]): Promise<void> {
    if (messages.length > 0) await this.#options.outbox.add(messages);
  }

  /** Resolves when everything that is due now has had its try. */
  async flush(): Promise<void> {
    await Promise.all(this.webhooks.map((webhook) => this.#send(webhook)));
  }

  async close(): Promise<void> {
    const senders = await Promise.allSettled(this.#senders.values());
    await Promise.all(
      senders.map((opened) => (opened.status === 'fulfilled' ? opened.value.close() : undefined)),
    );
  }

  async #send(webhook: string): Promise<void> {
    const sender = await this.#senders.get(webhook)?.catch(() => undefined);
    await sender?.send();
  }

  async #open(webhook: string): Promise<WebhookSender> {
    const { outbox, clock, logger, warn } = this.#options;
    const { WebhookSender } = await import('./sender.ts');
    // The option was refused without them.
    const keys = signingKeys(process.env[webhookSecretVariable] ?? '') ?? [];
    const target = this.#targetOf(webhook);
    return new WebhookSender({
      outbox,
      target,
      url: new URL(webhook),
      keys,
      clock,
      logger,
      warn,
    });
  }

  #targetOf(webhook: string): string {
    return this.#hash(`webhook\n${webhook}`);
  }

  #hash(text: string): string {
    return createHash('sha256').update(this.#options.salt).update(text).digest('hex').slice(0, 32);
  }
}
