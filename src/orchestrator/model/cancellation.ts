/**
 * Whether a batch is to be cancelled at the provider. `asked for`: its scope was cancelled, the time of its
 * callers is up, or it is slow and they do not want to wait for it. A cancel that failed is asked for still.
 */
type CancelState = 'none' | 'asked for' | 'sending' | 'sent';

export class Cancellation {
  #state: CancelState = 'none';
  #sending: Promise<void> = Promise.resolve();
  #isMove = false;

  get state(): CancelState {
    return this.#state;
  }

  /** If the batch is cancelled, that is our doing. */
  get isOurs(): boolean {
    return this.#state !== 'none';
  }

  /** Its callers wait on: what is left of it is sent another way when it has ended. */
  get isMove(): boolean {
    return this.#isMove;
  }

  askToMove(): void {
    this.#isMove = true;
    this.askFor();
  }

  /** An earlier run, or somebody else, had it cancelled before this process looked at it. */
  wasSentBefore(): void {
    this.#state = 'sent';
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
