import { BatchlingError, NotSentError, UnknownOutcomeError } from '../../base/errors.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import { failureOf } from '../model/failure-of.ts';

/** Waiting for less is not worth a line. */
const longWait = 60_000;
/** Connections break and servers stumble: only what happens so often in a row is worth a line. */
const inARow = 3;

/** What is wrong at a provider, from what a request to it ended with. */
export interface TroubleKind {
  readonly kind: 'unreachable' | 'denied' | 'busy' | 'failing';
  /** The provider's status, or what the network said: `ECONNREFUSED`. */
  readonly said: string;
  /** After how many failures in a row it is told. */
  readonly after: number;
  /** Milliseconds the provider asked us to wait. */
  readonly retryAfter?: number | undefined;
}

/** `undefined`: not the provider's fault, such as an error of the ledger. */
export function troubleKind(error: unknown): TroubleKind | undefined {
  if (error instanceof NotSentError && BatchlingError.isInstance(error.cause)) {
    return troubleKind(error.cause);
  }
  const failure = failureOf(error);
  const status = failure?.answer?.status ?? statusIn(error);
  if (status !== undefined) return byMeaning(failure, String(status));
  if (!(error instanceof NotSentError || error instanceof UnknownOutcomeError)) return undefined;
  const { reason } = error.facts;
  if (typeof reason === 'string') return { kind: 'unreachable', said: reason, after: 1 };
  const code = codeIn(error);
  const isBroken = code === undefined || brokenConnection.has(code);
  return {
    kind: 'unreachable',
    said: code ?? 'no answer',
    after: error instanceof UnknownOutcomeError || isBroken ? inARow : 1,
  };
}

/** Codes that say that there was a connection. */
const brokenConnection = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_BODY_TIMEOUT']);

function byMeaning(failure: BatchFailure | undefined, said: string): TroubleKind {
  const { meaning, retryAfter } = failure ?? {};
  if (meaning === 'denied') return { kind: 'denied', said, after: 1 };
  if (meaning === 'full') {
    return { kind: 'busy', said, after: (retryAfter ?? 0) >= longWait ? 1 : inARow, retryAfter };
  }
  return { kind: 'failing', said, after: inARow };
}

function statusIn(error: unknown): number | undefined {
  const status = BatchlingError.isInstance(error) ? error.facts.status : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** The first code of an error and its causes that is the network's and not ours. */
function codeIn(error: unknown): string | undefined {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    const { code } = one as { code?: unknown };
    if (typeof code === 'string' && !BatchlingError.isInstance(one)) return code;
  }
  return undefined;
}
