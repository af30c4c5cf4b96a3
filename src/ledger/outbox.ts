/** A message that somebody outside is to be told, once it is known what it tells of. */
export interface OutboxMessage {
  /** The same for the same news: whoever tells them again tells nothing new. */
  readonly id: string;
  /** The receiver, as a hash: an address may be a secret. */
  readonly target: string;
  readonly body: string;
}

/** A message to be sent now. */
export interface DueMessage extends OutboxMessage {
  /** How often it was tried, with this time. A try that nobody settled does not count: its process is gone. */
  readonly attempt: number;
}

export interface DueMessages {
  readonly messages: readonly DueMessage[];
  /** Milliseconds until another one of this target is due; missing: there is none. */
  readonly next?: number;
}

/** How long a message is kept, and tried, in milliseconds. */
export const messageLife = 3 * 86_400_000;

/** Messages that wait to be sent, by whichever process comes next. Each is told at least once, or is too old. */
export interface Outbox {
  /** A message that is known already stays as it is. */
  add(messages: readonly OutboxMessage[]): Promise<void>;
  /** Messages of a target that are due, the oldest first. Nobody else gets them for `lease` milliseconds. */
  take(target: string, options: { lease: number; limit: number }): Promise<DueMessages>;
  /** It was tried: it is sent, or is not to be sent any more; `again`: it is due in so many milliseconds. */
  settle(id: string, again?: number): Promise<void>;
}
