import type { BatchifyOptions, BatchingContext } from '../../src/index.ts';
import type {
  FaultAction,
  FaultRule,
  Simulator,
  SimulatorSettingsChange,
} from '../../src/simulator/index.ts';
import { type WiredProvider, wireOf } from '../support/provider-wires.ts';
import type { LeapingClock } from './leaping-clock.ts';

export type Provider = WiredProvider;

export const both: readonly Provider[] = ['openai', 'anthropic'];
export const openaiOnly: readonly Provider[] = ['openai'];
export const anthropicOnly: readonly Provider[] = ['anthropic'];

/** What one caller gets: its own answer, or an error with the status and type its SDK reports. */
export type Outcome = 'its answer' | `${number} ${string}`;

/** What became of one request. */
export interface Fate {
  readonly outcome: Outcome;
  /** Executions that the provider bills. */
  readonly billed: number;
  /** Executions it does not bill: failed, or without a usable line. */
  readonly unbilled: number;
}

/** A batch as the provider ran it, and what surrounds it. */
export interface Scene {
  readonly provider: Provider;
  readonly simulator: Simulator;
  readonly scope: BatchingContext;
  readonly clock: LeapingClock;
}

/** One fault of a provider or of the way to it, and what is promised about it. */
export interface FaultCase {
  /** For the table: what the provider does. */
  readonly fault: string;
  readonly providers: readonly Provider[];
  /** Where the case cannot happen, although it is played on every wire. */
  readonly notFor?: readonly Provider[];
  /** What the callers ask. Markers of the simulator in it are part of the fault. */
  readonly prompts?: readonly string[];
  readonly settings?: SimulatorSettingsChange;
  /** A function where they hold something that is made for one case. */
  readonly options?: BatchifyOptions | (() => BatchifyOptions);
  /** Sets the fault up, before anything is asked. */
  arrange(scene: Scene): void;
  /** One fate for all, or one per prompt. */
  readonly fates: Fate | readonly Fate[];
  /**
   * How many requests the provider accepted once more, each time counted. `atMost` where it depends
   * on when there is room.
   */
  readonly sentAgain: number | { readonly atMost: number };
  /** Its scope has a lane of ordinary calls; all others must send none. */
  readonly isLane?: true;
  /** What else has to be true, e.g. about when something happened. */
  readonly check?: (played: Played) => void;
}

export interface Played extends Scene {
  readonly fates: readonly Fate[];
  readonly sentAgain: number;
  /** When each caller had its outcome, in milliseconds since the beginning. */
  readonly heardAt: readonly number[];
  /** Reasons of `batch:resent`. */
  readonly resent: readonly string[];
  /** Files of the ledger, reasons of `batch:resent`, log lines and callers' errors in which the key stands. */
  readonly leaks: readonly string[];
}

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;

/** What the callers of every case authenticate with, and a fault may echo. */
export const apiKey = 'sk-key-of-the-callers';

/** However often something is asked. */
export const forGood = Number.POSITIVE_INFINITY;

export const answered: Fate = { outcome: 'its answer', billed: 1, unbilled: 0 };

/** Answered after so many executions that did not count. */
export const answeredAfter = (unbilled: number): Fate => ({ ...answered, unbilled });

/** Answered, although the provider bills it so often: an execution whose answer cannot be had. */
export const billedTimes = (billed: number): Fate => ({ ...answered, billed });

export const failed = (outcome: Outcome, unbilled = 0, billed = 0): Fate => ({
  outcome,
  billed,
  unbilled,
});

export const status = (code: number, more: Partial<FaultAction> = {}) =>
  ({ kind: 'status', status: code, ...more }) as FaultAction;

/** The requests of the batch wires, by what they are for. */
export const requests = {
  upload: { method: 'POST', path: /\/files$/ },
  create: {
    method: 'POST',
    path: /\/(batches|batch\/jobs|batchPredictionJobs|batchInferenceJobs|model-invocation-job)$|:batchGenerateContent$/,
  },
  poll: {
    method: 'GET',
    path: /\/(batches|batch\/jobs|batchPredictionJobs|batchInferenceJobs|model-invocation-job)\/[^/]+$/,
  },
  list: {
    method: 'GET',
    path: /\/(batches|batch\/jobs|batchPredictionJobs|batchInferenceJobs|model-invocation-jobs)$/,
  },
  results: { method: 'GET', path: /\/(content|results)$/ },
  cancel: { method: 'POST', path: /[/:]cancel$/ },
  deletion: { method: 'DELETE', path: /\/files\// },
} as const satisfies Record<string, Pick<FaultRule, 'method' | 'path'>>;

/** Where this request goes at this provider. */
export function requestOf(provider: Provider, what: keyof typeof requests) {
  return (what === 'deletion' ? undefined : wireOf(provider)[what]) ?? requests[what];
}

/** A fault on one of these requests, once unless told otherwise. */
export function strike(
  what: keyof typeof requests,
  action: FaultAction,
  often: Pick<FaultRule, 'times' | 'skip'> = {},
): FaultCase['arrange'] {
  return ({ simulator, provider }) => {
    simulator.faults.add({ ...requestOf(provider, what), ...often, action });
  };
}

/** An outage of so long, and when it is over one other answer. */
export function outageThenOnce(
  what: 'poll' | 'results',
  outage: { readonly action: FaultAction; readonly ms: number },
  once: FaultAction,
): FaultCase['arrange'] {
  return ({ simulator, scope, clock, provider }) => {
    const place = requestOf(provider, what);
    const off = scope.on(what === 'poll' ? 'batch:submitted' : 'batch:ended', () => {
      off();
      const { action, ms } = outage;
      const fault = simulator.faults.add({ ...place, times: forGood, action });
      clock.setTimeout(() => {
        fault.remove();
        simulator.faults.add({ ...place, action: once });
      }, ms);
    });
  };
}
