import type { Simulator } from '../../../src/simulator/index.ts';
import { isVectorOf } from '../../support/is-vector-of.ts';
import type { Heard } from '../../support/processes/asker.ts';
import { until } from '../../support/until.ts';

/** What a history of kills came to. All but `kills` should be nothing. */
export interface Verdict {
  kills: number;
  billedTwice: number;
  lost: number;
  wrong: number;
  /** What went wrong, for people. */
  complaints: string[];
}

export function noVerdict(): Verdict {
  return { kills: 0, billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
}

export function addVerdict(sum: Verdict, other: Verdict): Verdict {
  return {
    kills: sum.kills + other.kills,
    billedTwice: sum.billedTwice + other.billedTwice,
    lost: sum.lost + other.lost,
    wrong: sum.wrong + other.wrong,
    complaints: [...sum.complaints, ...other.complaints],
  };
}

/** Compares what every caller heard with what it asked, and the provider's bill with both. */
export async function judge(
  simulator: Simulator,
  prompts: readonly string[],
  heard: readonly Heard[],
): Promise<Omit<Verdict, 'kills'>> {
  // A batch that nobody knows of would be billed after we looked.
  await until(
    () => simulator.batches().every(({ phase }) => phase === 'ended'),
    'the batches to end',
  );
  const twice = simulator.meter.executedTwice().length;
  const surplus = simulator.meter.total - prompts.length;
  const silent = prompts.filter((_, index) => heard[index]?.text === undefined);
  const texts = heard.flatMap(({ text }) => text ?? []);
  const wrong = prompts.filter((prompt, index) => {
    const text = heard[index]?.text;
    if (text === undefined) return false;
    return !text.includes(`answer to "${prompt}"`) && !isVectorOf(prompt, text);
  });
  // No two answers of the simulator are alike, so nor may those of identical prompts be.
  const shared = texts.length - new Set(texts).size;
  const complaints: string[] = [];
  if (twice > 0 || surplus !== 0) complaints.push(`${twice} billed twice, ${surplus} too many`);
  if (silent.length > 0) complaints.push(`lost: ${JSON.stringify(heard)}`);
  if (wrong.length + shared > 0) complaints.push(`wrong: ${JSON.stringify(heard)}`);
  return {
    billedTwice: Math.max(twice, surplus),
    lost: silent.length,
    wrong: wrong.length + shared,
    complaints,
  };
}
