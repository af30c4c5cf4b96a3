import type { BatchifyOptions, Duration } from '../../src/index.ts';
import type {
  BatchScript,
  FaultAction,
  SimulatorSettingsChange,
} from '../../src/simulator/index.ts';
import fc from '../support/fast-check.ts';
import { type Place, places } from './places.ts';

export type Provider = 'openai' | 'anthropic';

/** Options of a scope, as far as they change what becomes of its calls. */
export interface ScopePlan extends LanePlan {
  readonly batchSize?: number;
  readonly attempts?: number;
  readonly minBatch?: number;
  readonly maxInFlight?: number;
  readonly deadline?: Duration;
}

/** Those that send requests another way, or some ahead of others. */
export type LanePlan = Pick<
  BatchifyOptions,
  'lane' | 'canary' | 'primeCache' | 'onSmallBatch' | 'onDeadline' | 'onSlow' | 'budget'
> & { readonly realtimeConcurrency?: number };

export interface Question {
  readonly provider: Provider;
  readonly model: string;
  readonly prompt: string;
}

export interface Fault {
  readonly place: Place;
  readonly times: number;
  readonly skip: number;
  readonly action: FaultAction;
}

export type Step =
  | ({ readonly do: 'ask'; readonly scope: number; readonly copies: number } & Question)
  | { readonly do: 'abort'; readonly call: number }
  | { readonly do: 'cancel' | 'signal' | 'flush' | 'close'; readonly scope: number }
  | { readonly do: 'advance'; readonly seconds: number }
  | ({ readonly do: 'fault' } & Fault)
  | { readonly do: 'script'; readonly script: BatchScript }
  | { readonly do: 'hold' | 'release' }
  | { readonly do: 'configure'; readonly change: SimulatorSettingsChange };

export interface Program {
  readonly scopes: readonly ScopePlan[];
  readonly steps: readonly Step[];
  /** What `Math.random` begins with. */
  readonly chance: number;
}

/** One time in three. */
export const maybe = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  );

const scopePlan = fc
  .record({
    batchSize: maybe([1, 2, 3]),
    attempts: maybe([1, 2, 3]),
    minBatch: maybe([1, 2, 3]),
    maxInFlight: maybe([1, 2]),
    deadline: maybe(['30s', '10m', '2h']),
    onDeadline: maybe(['error', 'realtime'] as const),
  })
  .map(
    (plan) => Object.fromEntries(Object.entries(plan).filter(([, value]) => value)) as ScopePlan,
  );

const markers = [
  '[[status 400]]',
  '[[status 500]]',
  '[[once status 429]]',
  '[[once status 500]]',
  '[[missing]]',
  '[[once missing]]',
  '[[once broken]]',
  '[[double]]',
  '[[foreign]]',
  '[[once empty]]',
  '[[expired]]',
  '[[once expired]]',
  '[[canceled]]',
];

const question = fc
  .record({
    provider: fc.constantFrom<Provider>('openai', 'anthropic'),
    model: fc.nat({ max: 2 }),
    number: fc.nat({ max: 3 }),
    marker: maybe(markers),
  })
  .map(({ provider, model, number, marker }) => ({
    provider,
    model: `${provider === 'openai' ? 'gpt' : 'claude'}-${model}`,
    prompt: `question ${number}${marker ?? ''}`,
  }));

const statuses = [400, 401, 404, 408, 429, 500, 502, 503, 504];
const action: fc.Arbitrary<FaultAction> = fc.oneof(
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom(...statuses),
    accept: fc.boolean(),
  }),
  fc.constantFrom<FaultAction>(
    { kind: 'status', status: 429, headers: { 'retry-after': '2' } },
    { kind: 'reset' },
    { kind: 'reset-mid-body' },
    { kind: 'lost' },
    { kind: 'late', ms: 3 },
    { kind: 'hang', ms: 3 },
    { kind: 'delay', ms: 3 },
    { kind: 'truncate' },
    { kind: 'garbage' },
  ),
);

const fault = fc
  .record({
    place: fc.constantFrom(...places),
    times: fc.integer({ min: 1, max: 3 }),
    skip: fc.nat({ max: 2 }),
    action,
  })
  .filter(({ place, action: given }) => {
    return place.wire || given.kind === 'reset' || (given.kind === 'status' && !given.accept);
  })
  // "Not accepted" is what these mean; a provider that acts all the same lies.
  .filter(({ action: given }) => {
    return given.kind !== 'status' || !given.accept || [408, 500, 502, 504].includes(given.status);
  });

const failed = (code: string, line?: number): BatchScript => ({
  outcome: 'failed',
  errors: [{ code, message: `scripted ${code}`, line: line ?? null }],
});

const script = fc.constantFrom<BatchScript>(
  failed('token_limit_exceeded'),
  failed('too_many_tasks'),
  failed('invalid_json_line', 1),
  failed('scripted'),
  { outcome: 'expired', completedFraction: 0 },
  { outcome: 'expired' },
  { outcome: 'cancelled' },
  { stuckIn: 'validating' },
  { stuckIn: 'in_progress' },
  { stuckIn: 'finalizing' },
  { unknownStatus: 'pondering' },
);

const change = fc.constantFrom<SimulatorSettingsChange>(
  { limits: { openai: { enqueuedTokens: 12 } } },
  { limits: { anthropic: { queuedRequests: 3, retryAfterSeconds: 3 } } },
  { limits: { openai: { requestsPerBatch: 2 }, anthropic: { requestsPerBatch: 3 } } },
  { listLag: 12 },
  { wrongRequestCounts: true },
  { resultsNotFoundReads: 2 },
  { emptyErrorFileId: true },
  { foreignBatches: true },
);

const scope = fc.nat({ max: 2 });
const steps: readonly fc.WeightedArbitrary<Step>[] = [
  {
    weight: 9,
    arbitrary: fc
      .tuple(question, scope, fc.integer({ min: 1, max: 4 }))
      .map(([asked, of, copies]) => ({ do: 'ask', scope: of, copies, ...asked })),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('advance'),
      seconds: fc.constantFrom(1, 6, 40, 700, 4_000),
    }),
  },
  { weight: 6, arbitrary: fault.map((given) => ({ do: 'fault', ...given })) },
  { weight: 3, arbitrary: script.map((given) => ({ do: 'script', script: given })) },
  { weight: 2, arbitrary: change.map((given) => ({ do: 'configure', change: given })) },
  { weight: 2, arbitrary: fc.nat({ max: 40 }).map((call) => ({ do: 'abort', call })) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel', 'signal', 'flush', 'close'),
      scope,
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'hold' }, { do: 'release' }) },
];

export const programs: fc.Arbitrary<Program> = fc.record({
  scopes: fc.array(scopePlan, { minLength: 3, maxLength: 3 }),
  steps: fc.array(fc.oneof({}, ...steps), { minLength: 2, maxLength: 24, size: 'max' }),
  chance: fc.integer({ min: 1, max: 2 ** 31 }),
});
