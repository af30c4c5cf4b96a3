import type { Faults } from '../faults/faults.ts';
import type { Gate } from '../server/gate.ts';
import type { Clockwork } from './clockwork.ts';
import type { Meter } from './meter.ts';
import type { Markers } from './model/markers.ts';
import type { PromptCounts } from './model/prompt-counts.ts';
import type { Random } from './random.ts';
import type { SimulatorSettings } from './settings.ts';
import type { Tiers } from './tiers/tiers.ts';
import type { PromptCache } from './usage/prompt-cache.ts';

/** What all providers of one simulator share. */
export interface World {
  settings: SimulatorSettings;
  meter: Meter;
  faults: Faults;
  markers: Markers;
  promptCounts: PromptCounts;
  clock: Clockwork;
  random: Random;
  gate: Gate;
  tiers: Tiers;
  promptCache: PromptCache;
}
