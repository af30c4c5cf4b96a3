import type { Form, ParseContext } from './form.ts';
import { hosts } from './hosts.ts';
import { name, tags } from './labels.ts';
import { only } from './only.ts';
import { batchers, providers } from './providers.ts';
import * as scalars from './scalars.ts';
import { clock, dispatcher, logger, signal, silentLogger } from './seams.ts';
import { defaultStore, store } from './store.ts';
import { systemClock } from './system-clock.ts';
import type { OptionName, ResolvedOptions } from './types.ts';

/** Everything about one option; options, environment variables, flags and help come from it. */
export interface OptionDefinition<Value> extends Form<Value> {
  /** What it means, in half a line. */
  readonly help: string;
  /** The default for people. */
  readonly usual: string;
  /** `null` stands for this option's `none`. */
  readonly nullable?: true;
  fallback(context: ParseContext): Value;
}

type OptionTable = { readonly [Name in OptionName]: OptionDefinition<ResolvedOptions[Name]> };

const { choice, flag, integer, timer } = scalars;

function define<Value>(
  form: Form<Value>,
  fallback: Value,
  usual: string,
  help: string,
): OptionDefinition<Value> {
  return { ...form, fallback: () => fallback, usual, help };
}

function optional<Value>(form: Form<Value>, usual: string, help: string) {
  return define<Value | undefined>(form, undefined, usual, help);
}

/** `null` undoes what a nested scope would inherit. */
function orNone<Value>(form: Form<Value>, help: string) {
  return { ...optional(form, 'none', help), nullable: true } as const;
}

const second = 1000;
const day = 86_400_000;

/** All options, in the order in which help shows them. */
export const optionTable: OptionTable = {
  batchSize: optional(integer(1), 'per batcher', 'flush a queue at this many requests'),
  window: define(timer(0), 5 * second, '5s', 'flush a queue when no call joined it for this long'),
  maxWindow: define(
    timer(0),
    60 * second,
    '60s',
    'flush a queue at the latest this long after its first call',
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
    'in what time the provider is asked to finish a batch',
  ),
  maxInFlight: optional(integer(1), 'per batcher', 'batches under way at once per account'),
  minBatch: define(integer(1), 1, '1', 'fewer requests than this go out as realtime calls'),
  attempts: define(integer(1), 3, '3', 'tries per request'),
  deadline: orNone(scalars.deadline, 'when to stop waiting for a batch'),
  onDeadline: define(choice('error', 'realtime'), 'error', 'error', 'what happens at the deadline'),
  realtimeConcurrency: define(integer(1), 8, '8', 'realtime calls of ours under way at once'),
  budget: orNone(scalars.dollars, 'a batch that would pass it is not sent'),
  dryRun: define(flag, false, 'false', 'capture, group and price; send nothing'),
  cache: define(flag, true, 'true', 'use answers of earlier, finished runs'),
  store: {
    ...store,
    fallback: ({ environment }) => defaultStore(environment),
    usual: "batchling/ledger.db in the user's cache folder",
    help: 'where the ledger is',
  },
  retention: define(
    scalars.duration('above 0'),
    30 * day,
    '30d',
    'how long the ledger keeps answers',
  ),
  maxStoreSize: orNone(scalars.bytes, 'how large the ledger may grow'),
  keep: define(choice('answers', 'all', 'none'), 'answers', 'answers', 'what the ledger keeps'),
  onStoreError: define(
    choice('error', 'continue'),
    'error',
    'error',
    'what happens when the ledger cannot be opened',
  ),
  cleanup: define(flag, true, 'true', 'delete our input files at the provider afterwards'),
  hosts: define(hosts, [], 'none', 'further base URLs and the provider whose wire they speak'),
  only: optional(only, 'all', 'what to batch; if a function throws, its call gets status 400'),
  bypass: define(
    choice('warn', 'error', 'ignore'),
    'warn',
    'warn',
    'when an LLM call cannot be batched',
  ),
  providers: define(providers, {}, 'none', 'settings that no captured request carries'),
  batchers: define(batchers, [], 'none', 'Batcher classes, asked before the built-in ones'),
  signal: orNone(signal, 'aborts the scope'),
  name: orNone(name, 'shown by ls, sent as provider metadata'),
  tags: { ...define(tags, {}, 'none', 'like name'), nullable: true },
  display: optional(
    choice('live', 'plain', 'json', 'none'),
    'what fits the terminal',
    'how progress is shown on stderr',
  ),
  logger: define(logger, silentLogger, 'silent', 'where log lines go'),
  dispatcher: optional(dispatcher, "the environment's proxies", 'our way out'),
  clock: define(clock, systemClock, 'real', 'time'),
  hooks: define(flag, true, 'true', 'capture calls of every HTTP client, not only scope.fetch'),
};

export const optionNames = Object.keys(optionTable) as readonly OptionName[];

/** `BATCHLING_BATCH_SIZE`; undefined where the option has no text form. */
export function variableOf(option: OptionName): string | undefined {
  if (optionTable[option].read === undefined) return undefined;
  return `BATCHLING_${kebab(option).replaceAll('-', '_').toUpperCase()}`;
}

/** `--batch-size`; undefined where the option has no text form. */
export function flagOf(option: OptionName): string | undefined {
  return optionTable[option].read === undefined ? undefined : `--${kebab(option)}`;
}

function kebab(option: OptionName): string {
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
