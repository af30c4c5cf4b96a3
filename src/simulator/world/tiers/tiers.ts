import type { Refused } from '../batches/batch.ts';
import { createRandom, type Random } from '../random.ts';
import type { FlexTier, FullTier } from './flex-settings.ts';
import { flexTier, type OrdinaryCall, type TierRules } from './tier-rules.ts';

/** A call that found room: how long it takes, which tier serves it, and whether the answer says so. */
export interface Admission {
  delay: number;
  tier: string;
  isTold: boolean;
}

interface Count {
  calls: number;
  refused: number;
  random: Random;
}

/** The service tiers of all providers: who gets in, and who finds no room. */
export class Tiers {
  readonly #seed: number;
  /** By the settings of a tier: changing them begins to count anew. */
  readonly #counts = new WeakMap<FlexTier, Count>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  admit(
    rules: TierRules,
    call: OrdinaryCall,
    model: string,
    flex: FlexTier = {},
    now: number,
  ): Admission | Refused {
    const wanted = rules.wanted(call);
    if (typeof wanted !== 'string') return wanted;
    if (wanted !== flexTier) return { delay: 0, tier: wanted, isTold: true };
    if (flex.forbidden) return rules.forbidden;
    if (flex.refusedModels?.includes(model)) return rules.refusedModel(model);
    const count = this.#countOf(flex);
    count.calls += 1;
    if (isFull(flex.full ?? 'never', count, now)) return noRoom(rules, flex, count);
    const { delay = 0, servedAs = flexTier, echoed = true } = flex;
    return { delay, tier: servedAs, isTold: echoed };
  }

  #countOf(flex: FlexTier): Count {
    const count = this.#counts.get(flex) ?? {
      calls: 0,
      refused: 0,
      random: createRandom(this.#seed),
    };
    this.#counts.set(flex, count);
    return count;
  }
}

function isFull(full: FullTier, { calls, random }: Count, now: number): boolean {
  if (typeof full === 'string') return full === 'always';
  if ('share' in full) return random.next() < full.share;
  if ('first' in full) return calls <= full.first;
  return now >= (full.from ?? 0) && now < full.until;
}

function noRoom(rules: TierRules, flex: FlexTier, count: Count): Refused {
  const names = Object.keys(rules.noRoom);
  const name = flex.noRoom ?? names[count.refused % names.length] ?? '';
  count.refused += 1;
  const refused = rules.noRoom[name];
  if (refused === undefined) {
    const message = `The simulator's setting noRoom must be one of ${names.join(', ')}: ${name}`;
    return { kind: 'refused', status: 500, message };
  }
  const { retryAfterSeconds: seconds } = flex;
  if (seconds === undefined) return refused;
  return { ...refused, headers: { 'retry-after': String(seconds) } };
}
