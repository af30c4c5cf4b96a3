import { isObject } from '../../server/json.ts';

/**
 * An error of a whole batch, as OpenAI lists it under `errors.data`.
 *
 * @example
 * ```ts
 * const errors = [{ code: 'token_limit_exceeded', message: 'Enqueued token limit reached' }];
 * simulator.faults.nextBatch({ outcome: 'failed', errors });
 * ```
 */
export interface BatchError {
  code: string;
  message: string;
  line?: number | null;
  param?: string | null;
}

/**
 * What becomes of a batch instead of the ordinary completion.
 *
 * @example
 * ```ts
 * simulator.faults.nextBatch({ stuckIn: 'in_progress', unknownStatus: 'pondering' });
 * simulator.faults.nextBatch({ lateFiles: 3 });
 * ```
 */
export interface BatchScript {
  outcome?: 'failed' | 'expired' | 'cancelled';
  /** For `failed`: the errors of the batch. A batch with any other outcome shows them all the same. */
  errors?: BatchError[];
  /** For `expired` and `cancelled`: the part of the requests that finishes. Default 0.5. */
  completedFraction?: number;
  /** The batch never leaves this status, except by a cancel. */
  stuckIn?: 'validating' | 'in_progress' | 'finalizing' | 'cancelling';
  /** Reported in place of the ordinary status while the batch is in progress. */
  unknownStatus?: string;
  /** OpenAI: reported in place of the ordinary status once the batch has ended. */
  finalStatus?: string;
  /** The first n times the ended batch is shown, it does not say where its results are. */
  lateFiles?: number;
  /** In place of the setting of that name; a huge number means for good. */
  resultsNotFoundReads?: number;
  /** The provider forgets the batch: it is found neither by its id nor in lists, and never runs. */
  forgotten?: boolean;
}

type Check = (value: unknown) => boolean;

const oneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string);
const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => typeof value === 'number' && value >= 0;

const checks: Record<keyof BatchScript, Check> = {
  outcome: oneOf('failed', 'expired', 'cancelled'),
  errors: (value) => Array.isArray(value) && value.every(isBatchError),
  completedFraction: (value) => isCount(value) && (value as number) <= 1,
  stuckIn: oneOf('validating', 'in_progress', 'finalizing', 'cancelling'),
  unknownStatus: isText,
  finalStatus: isText,
  lateFiles: isCount,
  resultsNotFoundReads: isCount,
  forgotten: (value) => typeof value === 'boolean',
};

function isBatchError(value: unknown): boolean {
  return isObject(value) && isText(value.code) && isText(value.message);
}

/** Scripts arrive over HTTP too; a word that is not understood must not be a script of nothing. */
export function checkScript(script: BatchScript): BatchScript {
  for (const [name, value] of Object.entries(script)) {
    const check = checks[name as keyof BatchScript];
    if (check === undefined) throw new TypeError(`Unknown word '${name}' in a batch script`);
    if (value === undefined || check(value)) continue;
    throw new TypeError(`'${name}' of a batch script cannot be ${JSON.stringify(value)}`);
  }
  return script;
}
