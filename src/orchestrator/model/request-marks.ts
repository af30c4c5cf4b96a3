const marks = {
  held: 1,
  settled: 2,
  queued: 4,
  due: 8,
  planning: 16,
  owns: 32,
  keyed: 64,
  expired: 128,
  elsewhere: 256,
} as const;

type Mark = (typeof marks)[keyof typeof marks];

/** What is so of a request that waits, in one number: a hundred thousand of them may wait at once. */
export class RequestMarks {
  private marks = 0;

  /** Its body counts against the memory budget. */
  get held(): boolean {
    return this.is(marks.held);
  }
  set held(value: boolean) {
    this.mark(marks.held, value);
  }

  /** Its caller has been told, or has gone. */
  get settled(): boolean {
    return this.is(marks.settled);
  }
  set settled(value: boolean) {
    this.mark(marks.settled, value);
  }

  /** It has been in its queue. */
  get queued(): boolean {
    return this.is(marks.queued);
  }
  set queued(value: boolean) {
    this.mark(marks.queued, value);
  }

  /** Its time is up. */
  get due(): boolean {
    return this.is(marks.due);
  }
  set due(value: boolean) {
    this.mark(marks.due, value);
  }

  /** It is being written into a plan: too late to take it out. */
  get planning(): boolean {
    return this.is(marks.planning);
  }
  set planning(value: boolean) {
    this.mark(marks.planning, value);
  }

  /** The request in the ledger is ours to send or to forget, and this is who stands for it. */
  get owns(): boolean {
    return this.is(marks.owns);
  }
  set owns(value: boolean) {
    this.mark(marks.owns, value);
  }

  /** Its caller gave it an idempotency key, so others may wait for the very same request. */
  get keyed(): boolean {
    return this.is(marks.keyed);
  }
  set keyed(value: boolean) {
    this.mark(marks.keyed, value);
  }

  /** The provider ran out of time for it once. */
  get expired(): boolean {
    return this.is(marks.expired);
  }
  set expired(value: boolean) {
    this.mark(marks.expired, value);
  }

  /** Somebody else is sending it, or has sent it: another process, or another caller here. */
  get elsewhere(): boolean {
    return this.is(marks.elsewhere);
  }
  set elsewhere(value: boolean) {
    this.mark(marks.elsewhere, value);
  }

  private is(mark: Mark): boolean {
    return (this.marks & mark) !== 0;
  }

  private mark(mark: Mark, value: boolean): void {
    this.marks = value ? this.marks | mark : this.marks & ~mark;
  }
}
