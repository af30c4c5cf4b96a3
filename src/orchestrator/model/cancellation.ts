/**
 * Whether a batch is to be cancelled at the provider. `wanted`: its scope was cancelled, or the time of its
 * callers is up. A cancel that failed is wanted still.
 */
type CancelState = 'not wanted' | 'wanted' | 'sending' | 'sent';

export class Cancellation {
  #state: CancelState = 'not wanted';
  #sending: Promise<void> = Promise.resolve();

  get state(): CancelState {
    return this.#state;
  }

  /** If the batch is cancelled, that is our doing. */
  get isOurs(): boolean {
    return this.#state !== 'not wanted';
  }

  want(): void {
    if (this.#state === 'not wanted') this.#state = 'wanted';
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
        this.#state = isTaken ? 'sent' : 'wanted';
      },
      () => {
        this.#state = 'wanted';
      },
    );
  }
}
