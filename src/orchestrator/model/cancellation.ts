/**
 * Whether a batch is to be cancelled at the provider. `asked for`: its scope was cancelled, or the time of
 * its callers is up. A cancel that failed is asked for still.
 */
type CancelState = 'none' | 'asked for' | 'sending' | 'sent';

export class Cancellation {
  #state: CancelState = 'none';
  #sending: Promise<void> = Promise.resolve();

  get state(): CancelState {
    return this.#state;
  }

  /** If the batch is cancelled, that is our doing. */
  get isOurs(): boolean {
    return this.#state !== 'none';
  }

  askFor(): void {
    if (this.#state === 'none') this.#state = 'asked for';
  }

  /** Resolves when no cancel is on its way, whatever became of it. */
  get settled(): Promise<void> {
    return this.#sending;
  }

  /** `work` resolves to whether the provider has taken the cancel. */
  send(work: Promise<boolean>): void {
    this.#state = 'sending';
    this.#sending = work.then(
      (isTaken) => {
        this.#state = isTaken ? 'sent' : 'asked for';
      },
      () => {
        this.#state = 'asked for';
      },
    );
  }
}
