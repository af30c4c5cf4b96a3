import { webhookForm } from '../webhooks/webhook-form.ts';
import type { Form, ParseContext } from './form.ts';
import { hosts } from './hosts.ts';
import { name, tags } from './labels.ts';
import { clock, dispatcher, logger, signal, silentLogger } from './objects.ts';
import { only } from './only.ts';
import { batchers, providers } from './providers.ts';
import * as scalars from './scalars.ts';
import { defaultStore, store } from './store.ts';
import { systemClock } from './system-clock.ts';
import type { OptionName } from './types.ts';

/** Everything about one option: its type, default, variable and docs come from here. */
export interface OptionDefinition<Value> extends Form<Value> {
  /** What it means, in half a line. */
  readonly help: string;
  /** The default in words. */
  readonly usual: string;
  /** `null` means none, and undoes an inherited value. */
  readonly nullable?: true;
  fallback(context: ParseContext): Value;
}

const { choice, flag, integer, timer } = scalars;

function define<Value>(
  form: Form<Value>,
  fallback: NoInfer<Value>,
  usual: string,
  help: string,
): OptionDefinition<Value> {
  return { ...form, fallback: () => fallback, usual, help };
}

function optional<Value>(form: Form<Value>, usual: string, help: string) {
  return define<Value | undefined>(form, undefined, usual, help);
}

function orNone<Value>(form: Form<Value>, help: string) {
  return { ...optional(form, 'none', help), nullable: true } as const;
}

const second = 1000;
const day = 86_400_000;

/** All options, in the order of the docs page. */
export const optionTable = {
  batchSize: optional(
    integer(1),
    'what suits the provider',
    'send a batch as soon as it has this many requests',
  ),
  window: define(timer(0), 5 * second, '5s', 'send a batch after this long without a new call'),
  maxWindow: define(
    timer(0),
    60 * second,
    '60s',
    'send a batch at the latest this long after its first call',
  ),
  poll: define(
    scalars.pollRange,
    { minimum: 10 * second, maximum: 60 * second },
    '10s..60s',
    'how often to ask a provider about a batch',
  ),
  completionWindow: define(
    scalars.duration('above 0'),
    day,
    '24h',
    'the time in which the provider is asked to finish a batch',
  ),
  maxInFlight: optional(
    integer(1),
    'what suits the provider',
    'batches under way at once, per account',
  ),
  minBatch: define(
    integer(1),
    1,
    '1',
    'fewer requests than this go out as ordinary calls, see `onSmallBatch`',
  ),
  onSmallBatch: define(
    choice('realtime', 'flex'),
    'realtime',
    'realtime',
    'the lane of calls that are too few for a batch',
  ),
  canary: define<false | 'call' | 'batch'>(
    scalars.canary,
    false,
    'false',
    'send one request of each kind ahead of the others: as an ordinary `call`, or as a `batch` of one',
  ),
  primeCache: define(
    flag,
    false,
    'false',
    "write a shared prompt to the provider's cache before the rest is sent (Anthropic)",
  ),
  lane: define(
    choice('batch', 'flex', 'realtime'),
    'batch',
    'batch',
    'how calls reach the provider: in batches, one by one in its half-price tier, or as ordinary calls',
  ),
  attempts: define(integer(1), 3, '3', 'tries per request before it ends in an error'),
  deadline: orNone(scalars.deadline, 'how long to wait for the answer to a call'),
  onDeadline: define(
    choice('error', 'realtime', 'flex'),
    'error',
    'error',
    'what happens at the deadline: an error, or an ordinary call, at full price or in the half-price tier',
  ),
  onSlow: define(
    choice('wait', 'flex', 'realtime'),
    'wait',
    'wait',
    'what happens to a batch that takes far longer than usual: wait, or cancel it and send the rest one by one',
  ),
  realtimeConcurrency: define(
    integer(1),
    8,
    '8',
    'ordinary calls that batchling itself has under way at once',
  ),
  budget: orNone(
    scalars.dollars,
    'dollars for the whole run; a batch that may pass it is not sent',
  ),
  dryRun: define(
    scalars.flagOr('deep'),
    false,
    'false',
    'capture, group and price, and send nothing; `deep` goes on with placeholder answers',
  ),
  cache: define(flag, true, 'true', 'use answers of earlier, finished runs'),
  store: {
    ...store,
    fallback: ({ environment }) => defaultStore(environment),
    usual: "batchling/ledger.db in the user's cache folder",
    help: 'the file that remembers requests and answers (the ledger)',
  },
  retention: define(
    scalars.duration('above 0'),
    30 * day,
    '30d',
    'how long the ledger keeps answers',
  ),
  maxStoreSize: orNone(
    scalars.bytes,
    'delete the oldest answers when the ledger is larger than this',
  ),
  keep: define(
    choice('answers', 'all', 'none'),
    'answers',
    'answers',
    'what the ledger keeps: answers, all (request bodies, too) or none',
  ),
  onStoreError: define(
    choice('error', 'continue'),
    'error',
    'error',
    'what happens when the ledger cannot be opened: an error, or going on without one',
  ),
  cleanup: define(flag, true, 'true', "delete batchling's input files at the provider afterwards"),
  hosts: define(hosts, [], 'none', 'further base URLs and the provider whose API they speak'),
  only: optional(only, 'all', 'what to batch, by provider and model'),
  bypass: define(
    choice('warn', 'error', 'ignore'),
    'warn',
    'warn',
    'what happens when an LLM call would go out at full price',
  ),
  providers: define(
    providers,
    {},
    'none',
    'settings of a provider that no captured request carries, such as `cancelAtDeadline`',
  ),
  batchers: define(batchers, [], 'none', 'Batcher classes, asked before the built-in ones'),
  webhook: orNone(
    webhookForm,
    'a URL that is told when a batch or the run is over, see docs/notifications.md',
  ),
  signal: orNone(signal, 'an abort ends the scope'),
  name: orNone(name, 'a name for the batches, in the ledger and at the provider'),
  tags: {
    ...define(
      tags,
      {},
      'none',
      'keys and values for the batches, in the ledger and at the provider',
    ),
    nullable: true,
  },
  display: optional(
    choice('live', 'plain', 'json', 'none'),
    'live in a terminal, plain elsewhere',
    'how progress is shown on stderr',
  ),
  logger: define(logger, silentLogger, 'silent', 'where log lines go'),
  dispatcher: optional(
    dispatcher,
    "the environment's proxies",
    "the undici dispatcher of batchling's own requests",
  ),
  clock: define(clock, systemClock, 'real', 'the source of time, for tests'),
  hooks: define(flag, true, 'true', 'capture calls of every HTTP client, not only scope.fetch'),
} satisfies Readonly<Record<OptionName, OptionDefinition<unknown>>>;

/**
 * Options as everything behind `batchify` sees them: checked, complete, durations in milliseconds.
 * `undefined` stands for none, or for the batcher's own value (`batchSize`, `maxInFlight`).
 */
export type ResolvedOptions = {
  readonly [Name in OptionName]: ReturnType<(typeof optionTable)[Name]['fallback']>;
};

export function definitionOf(option: OptionName): OptionDefinition<unknown> {
  return optionTable[option];
}

export const optionNames = Object.keys(optionTable) as readonly OptionName[];

/** `BATCHLING_BATCH_SIZE`; undefined where the option has no text form. */
export function variableOf(option: OptionName): string | undefined {
  if (definitionOf(option).read === undefined) return undefined;
  return `BATCHLING_${option.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}
