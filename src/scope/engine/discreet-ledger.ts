import { BatchlingError } from '../../base/errors.ts';
import type { Logger } from '../../base/types.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Errors that the engine knows what to do about; they name no store. */
const passed: ReadonlySet<string> = new Set(['LEASE_LOST', 'OWNER_LOST', 'OVER_BUDGET']);

/**
 * The same ledger, whose errors do not say where it is: they become answers to clients of a gateway. The
 * operator finds the reason in the log.
 */
export function discreetLedger(ledger: Ledger, logger: Logger): Ledger {
  const discreet = (error: unknown): unknown => {
    const code = BatchlingError.isInstance(error) ? error.code : 'STORE_UNUSABLE';
    if (passed.has(code)) return error;
    logger.error('the ledger cannot be used', { error });
    const message =
      'The ledger of the gateway cannot be used. Its operator finds the reason in its log.';
    return new BatchlingError(code, message, { cause: error });
  };
  return new Proxy(ledger, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]) => {
        try {
          return await member.apply(target, given);
        } catch (error) {
          throw discreet(error);
        }
      };
    },
  });
}
