import type { Socket } from 'node:net';
import { Faults } from '../faults/faults.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import {
  createProviders,
  type Providers,
  providerNamed,
  type SimulatedProvider,
} from '../providers.ts';
import { createGate } from '../server/gate.ts';
import { Rates } from '../server/rates.ts';
import { RequestLog } from '../server/request-log.ts';
import { changeSettings } from './change-settings.ts';
import { createClockwork, type SimulatorClock } from './clockwork.ts';
import { Meter } from './meter.ts';
import { Markers } from './model/markers.ts';
import { PromptCounts } from './model/prompt-counts.ts';
import { createRandom } from './random.ts';
import { defaultSettings, type SimulatorSettingsChange } from './settings.ts';
import { Tiers } from './tiers/tiers.ts';
import { PromptCache } from './usage/prompt-cache.ts';
import type { World } from './world.ts';

/** Everything a simulator knows; the server and the control API work on it. */
export interface SimulatorState {
  world: World;
  providers: Providers;
  log: RequestLog;
  rates: Rates;
  /** Connections of requests that were not answered yet. */
  waiting: Set<Socket>;
  reset(): void;
}

export function createState(
  seed: number,
  options: SimulatorSettingsChange,
  clock?: SimulatorClock,
  others: readonly OpenAILike[] = [],
): SimulatorState {
  const world: World = {
    settings: freshSettings(options),
    meter: new Meter(),
    faults: new Faults(),
    markers: new Markers(),
    promptCounts: new PromptCounts(),
    clock: createClockwork(clock),
    random: createRandom(seed),
    gate: createGate(),
    tiers: new Tiers(seed),
    promptCache: new PromptCache(seed),
  };
  const state: SimulatorState = {
    world,
    providers: createProviders(world, others),
    log: new RequestLog(),
    rates: new Rates(),
    waiting: new Set(),
    reset() {
      // First of all, so that no batch under way writes into what is emptied below.
      world.clock.stop();
      // An answer that a fault holds back would never come now.
      for (const socket of state.waiting) socket.destroy();
      world.gate.reset();
      world.meter.reset();
      world.faults.clear();
      world.markers.reset();
      world.promptCounts.reset();
      world.promptCache.reset();
      world.random.restart();
      Object.assign(world.settings, freshSettings(options));
      state.log.reset();
      state.rates = new Rates();
      state.providers = createProviders(world, others);
    },
  };
  return state;
}

function freshSettings(options: SimulatorSettingsChange) {
  const settings = defaultSettings();
  changeSettings(settings, options);
  return settings;
}

/**
 * What is known about one batch, whatever its provider.
 *
 * @example
 * ```ts
 * const open = simulator.batches().filter(({ phase }) => phase !== 'ended');
 * ```
 */
export interface BatchSummary {
  provider: SimulatedProvider;
  id: string;
  account: string;
  foreign: boolean;
  phase: string;
  ending: string | null;
  /** The number that the provider tells: 0 before its lines were read, and when it failed as a whole. */
  total: number;
  /** How many requests came in with it, whatever became of them; known once they were read. */
  requests: number;
  createdAt: number;
}

export function summariseBatches(state: SimulatorState): BatchSummary[] {
  return Object.entries(state.providers).flatMap(([provider, { batches }]) =>
    batches.all().map((batch) => {
      const { id, account, foreign, phase, ending, total, requests, createdAt } = batch;
      return { provider, id, account, foreign, phase, ending, total, requests, createdAt };
    }),
  );
}

/**
 * Where to put a stranger's batch.
 *
 * @example
 * ```ts
 * simulator.addForeignBatch({ provider: 'anthropic', size: 12 });
 * ```
 */
export interface ForeignBatch {
  provider: SimulatedProvider;
  /** How many requests it holds. */
  size: number;
  /** Short hash as in the request log; by default the account that last called the provider. */
  account?: string;
}

export function addForeignBatch(state: SimulatorState, options: ForeignBatch): string {
  const { provider, size } = options;
  const lastCaller = state.log.entries.findLast(
    (entry) => entry.provider === provider && entry.account !== null,
  );
  const account = options.account ?? lastCaller?.account;
  if (account === undefined || account === null) {
    throw new TypeError(`No account has called ${provider} yet, and none was given`);
  }
  return providerNamed(state.providers, provider).addForeignBatch(account, size);
}
