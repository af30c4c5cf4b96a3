import { formatDuration } from '../base/duration.ts';
import type { ProviderInfo } from '../batchers/provider-info.ts';
import { type BatcherClass, builtInInfos } from '../batchers/registry.ts';
import { configFile } from './config/config-file.ts';
import { type Environment, isRecord, type ParseContext, Refused } from './form.ts';
import { invalidOption, invalidOptions, unknownOption } from './invalid-option.ts';
import { infosOfBatchers } from './providers.ts';
import {
  definitionOf,
  optionNames,
  optionTable,
  type ResolvedOptions,
  variableOf,
} from './table.ts';
import type { OptionName } from './types.ts';

/** Where a value can come from: the higher rank wins. */
const rank = { default: 0, file: 1, environment: 2, inherited: 3, given: 4 } as const;

interface Found {
  readonly rank: number;
  readonly value: unknown;
}

/**
 * Checks the options of one scope. A given value wins over the parent scope's, that over the
 * environment variable, that over the config file, that over the default. Throws `INVALID_OPTION`.
 */
export function resolveOptions(
  given: unknown,
  inherited?: ResolvedOptions,
  environment: Environment = process.env,
): ResolvedOptions {
  const options = given === undefined ? {} : given;
  if (!isRecord(options)) throw invalidOptions(given);
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(optionTable, key)) throw unknownOption(key);
  }
  const found = new Map<OptionName, Found>();
  const context = parseContext(
    environment,
    () => found.get('batchers')?.value as readonly BatcherClass[],
  );
  // First, because other options may name the providers of these batchers.
  found.set('batchers', find('batchers', options.batchers, inherited, context));
  for (const name of optionNames) {
    if (!found.has(name)) found.set(name, find(name, options[name], inherited, context));
  }
  const values = Object.fromEntries(optionNames.map((name) => [name, found.get(name)?.value]));
  return Object.freeze({ ...values, ...windowsOf(found) }) as ResolvedOptions;
}

/** What the parsers of options may use; `batchers` are the user's own. */
export function parseContext(
  environment: Environment,
  batchers: () => readonly BatcherClass[],
): ParseContext {
  const infos = () => infosWith(batchers());
  return {
    environment,
    knownProviders: () => [...new Set(infos().map(({ name }) => name))],
    infoOf: (provider) => infos().find(({ name }) => name === provider),
  };
}

function find(
  name: OptionName,
  given: unknown,
  inherited: ResolvedOptions | undefined,
  context: ParseContext,
): Found {
  if (given !== undefined) return { rank: rank.given, value: parse(name, given, context) };
  if (inherited !== undefined) return { rank: rank.inherited, value: inherited[name] };
  const variable = variableOf(name);
  const text = variable && context.environment[variable]?.trim();
  if (variable && text) {
    return { rank: rank.environment, value: parseText(name, text, variable, context) };
  }
  const file = configFile();
  const inFile = file?.options[name];
  return inFile === undefined
    ? { rank: rank.default, value: refusable(name, () => definitionOf(name).fallback(context)) }
    : { rank: rank.file, value: parse(name, inFile, context, file?.path) };
}

function parse(name: OptionName, value: unknown, context: ParseContext, where?: string): unknown {
  const { nullable, fallback, parse: parseValue } = definitionOf(name);
  const parsed = () =>
    value === null && nullable ? fallback(context) : parseValue(value, context);
  return refusable(name, parsed, where);
}

function parseText(name: OptionName, text: string, where: string, context: ParseContext): unknown {
  const { read, parse: parseValue } = definitionOf(name);
  return refusable(name, () => parseValue(read === undefined ? text : read(text), context), where);
}

function refusable<Value>(name: OptionName, action: () => Value, where?: string): Value {
  try {
    return action();
  } catch (error) {
    throw error instanceof Refused ? invalidOption(name, error, where) : error;
  }
}

/** The user's own batchers come first, as in the registry. */
function infosWith(batchers: readonly BatcherClass[]): readonly ProviderInfo[] {
  return refusable('batchers', () => [...infosOfBatchers(batchers), ...builtInInfos]);
}

/**
 * A queue's `window` never exceeds its `maxWindow`. If both come from the same source, that is the
 * user's error; otherwise the one of lower rank follows the other.
 */
function windowsOf(found: ReadonlyMap<OptionName, Found>) {
  const window = found.get('window') as Found & { value: number };
  const maxWindow = found.get('maxWindow') as Found & { value: number };
  if (window.value <= maxWindow.value) return {};
  if (window.rank === maxWindow.rank) {
    const detail = `shorter than window, ${formatDuration(window.value)}`;
    const refused = new Refused(formatDuration(maxWindow.value), detail);
    const where = maxWindow.rank === rank.environment ? variableOf('maxWindow') : undefined;
    throw invalidOption('maxWindow', refused, where);
  }
  const fitting = window.rank > maxWindow.rank ? window.value : maxWindow.value;
  return { window: fitting, maxWindow: fitting };
}
