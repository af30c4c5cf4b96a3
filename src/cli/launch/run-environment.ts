import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  configVariable,
  detachVariable,
  gatewayVariable,
  reportVariable,
  uncheckedVariable,
} from '../../base/run-variables.ts';
import { checkFlag, namesProviders, optionFlags } from '../../options/flags.ts';
import { inheritedRun, type ResolvedOptions, resolveOptions } from '../../options/index.ts';
import { configPath } from '../config-path.ts';
import { usageError } from '../usage-error.ts';
import type { RunFlags } from './run-flags.ts';

export type Variables = Record<string, string | undefined>;

/** What the processes of a run get to know, as variables. */
export interface RunEnvironment {
  readonly variables: Variables;
  /** The path of the config file. */
  readonly config: string | undefined;
  /** `--display`, or its variable. */
  readonly display: 'live' | 'plain' | 'json' | 'none' | undefined;
  /** `--detach` */
  readonly mayDetach: boolean;
  /** What is known of the options without the config file. */
  readonly options: ResolvedOptions;
  /** `--require-batched` */
  readonly requiresBatched: boolean;
  /** `--gateway`, unless a run around this one has one already. */
  readonly hasGateway: boolean;
  /** A run around this one shows what its processes do. */
  readonly isInner: boolean;
}

/** Checks flags and variables before anything is started; throws errors of wrong usage. */
export function runEnvironment(
  flags: RunFlags,
  inherited: Variables = process.env,
): RunEnvironment {
  const config = configPath(flags.config);
  const mayDetach = isOn('--detach', flags.detach) || inherited[detachVariable] === 'true';
  const isInner = isShown(inherited);
  const isReached = isInner && Boolean(inherited[gatewayVariable]);
  const hasGateway = isOn('--gateway', flags.gateway) && !isReached;
  if (hasGateway && mayDetach) throw usageError(cannotDetach);
  const requiresBatched = isOn('--require-batched', flags.requireBatched);
  const given = variablesOf(flags, config !== undefined);
  if (requiresBatched) given.BATCHLING_BYPASS = 'error';
  const variables: Variables = {
    ...inherited,
    ...given,
    BATCHLING_RUN: inheritedRun(inherited) ?? randomUUID(),
    [configVariable]: config,
    [uncheckedVariable]: config === undefined || isInner ? undefined : 'true',
    [detachVariable]: mayDetach ? 'true' : undefined,
  };
  const options = resolveOptions({}, undefined, checkable(variables, config));
  const { display, store } = options;
  // Processes of one run may work in different folders, and share one ledger.
  if (variables.BATCHLING_STORE?.trim()) variables.BATCHLING_STORE = store;
  return { variables, config, display, mayDetach, options, requiresBatched, hasGateway, isInner };
}

const cannotDetach =
  '--detach and --gateway do not go together: whether a program that is not Node has something else to do cannot be ' +
  'seen. Press Ctrl-C when everything is sent, and run the same command again for the answers';

function variablesOf(flags: RunFlags, anyProvider: boolean): Variables {
  const variables: Variables = {};
  for (const flag of optionFlags) {
    const text = flags[flag.option];
    if (text === undefined) continue;
    checkFlag(flag, text, anyProvider);
    variables[flag.variable] = text;
  }
  return variables;
}

/** Something that a run has started may outlive it: the folder of a run that is over is gone. */
function isShown({ [reportVariable]: folder }: Variables): boolean {
  return Boolean(folder) && existsSync(folder as string);
}

/** Providers of the config file's own batchers are known to the processes of the run only. */
function checkable(variables: Variables, config: string | undefined): Variables {
  if (config === undefined) return variables;
  const unchecked = optionFlags.filter(({ option }) => namesProviders(option));
  return { ...variables, ...Object.fromEntries(unchecked.map(({ variable }) => [variable, ''])) };
}

function isOn(flag: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw usageError(`${flag}: it takes no value, but got: ${text}`);
}
