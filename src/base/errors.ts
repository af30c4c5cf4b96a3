const marker = Symbol.for('batchling.error');

/** Stable codes of what batchling throws. */
export type BatchlingErrorCode =
  | 'INVALID_OPTION'
  | 'BAD_INPUT'
  | 'NOT_AVAILABLE'
  | 'SCOPE_CLOSED'
  | 'GLOBAL_LOCKED'
  | 'DRY_RUN'
  | 'STORE_UNUSABLE'
  | 'STORE_NEWER'
  | 'LEASE_LOST'
  | 'OWNER_LOST'
  | 'OVER_BUDGET'
  | 'NOT_SENT'
  | 'UNKNOWN_OUTCOME'
  | 'REFUSED'
  | 'UNSUPPORTED'
  | 'FOREIGN_ORIGIN'
  | 'INVARIANT';

/**
 * The base of everything batchling throws: a stable `code`, the cause, and facts as fields.
 *
 * @example
 * try {
 *   await batchify(main);
 * } catch (error) {
 *   if (BatchlingError.isInstance(error)) console.error(error.code, error.facts);
 * }
 */
export class BatchlingError extends Error {
  readonly code: BatchlingErrorCode;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: BatchlingErrorCode,
    message: string,
    options: { cause?: unknown; facts?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'BatchlingError';
    this.code = code;
    this.facts = options.facts ?? {};
    Object.defineProperty(this, marker, { value: true });
  }

  /** Like `instanceof`, but true across two installed copies of the package. */
  static isInstance(error: unknown): error is BatchlingError {
    return typeof error === 'object' && error !== null && marker in error;
  }
}

/** The bytes never left, or left only in part: the provider cannot have acted on them. */
export class NotSentError extends BatchlingError {
  constructor(message: string, cause?: unknown, facts?: Readonly<Record<string, unknown>>) {
    super('NOT_SENT', message, { cause, ...(facts && { facts }) });
    this.name = 'NotSentError';
  }
}

/** The last byte left and no usable answer came: the provider may have acted. */
export class UnknownOutcomeError extends BatchlingError {
  constructor(message: string, cause?: unknown, facts?: Readonly<Record<string, unknown>>) {
    super('UNKNOWN_OUTCOME', message, { cause, ...(facts && { facts }) });
    this.name = 'UnknownOutcomeError';
  }
}

/** Another owner took the batch over; what this process still wanted to write is refused. */
export class LeaseLostError extends BatchlingError {
  constructor(message: string, facts?: Readonly<Record<string, unknown>>) {
    super('LEASE_LOST', message, facts ? { facts } : {});
    this.name = 'LeaseLostError';
  }
}

/** The ledger counts this owner as gone, or does not know it: join again and ask again. */
export class OwnerLostError extends BatchlingError {
  constructor(message: string, facts: { readonly owner: number }) {
    super('OWNER_LOST', message, { facts });
    this.name = 'OwnerLostError';
  }
}

/** The budget of a run has no room for more. Figures are dollars. */
export class OverBudgetError extends BatchlingError {
  declare readonly facts: BudgetFacts & Readonly<Record<string, unknown>>;

  constructor(facts: BudgetFacts) {
    super('OVER_BUDGET', 'The budget of the run has no room for it.', { facts: { ...facts } });
    this.name = 'OverBudgetError';
  }
}

/** Why a budget has no room. */
export interface BudgetFacts {
  readonly budget: number;
  readonly spent: number;
  /** The estimated cost of batches under way. */
  readonly underWay: number;
  readonly estimate: number;
}

/** A state that the design rules out. Always a bug of ours. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) {
    throw new BatchlingError(
      'INVARIANT',
      `${message}. This is a bug in batchling; please report it.`,
    );
  }
}

/** The message of an error, or some text for whatever else was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  // `String` throws for some objects.
  return typeof error === 'object' ? Object.prototype.toString.call(error) : String(error);
}
