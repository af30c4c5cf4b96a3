import type { BatchifyOptions } from '../../../src/index.ts';
import type { FaultRule, SimulatorSettingsChange } from '../../../src/simulator/index.ts';
import { startAsker } from '../../support/processes/asker.ts';
import { soon } from '../../support/until.ts';
import { type Kill, nameOf, setTrap } from './kills.ts';
import { openScene, type Provider, type Scene } from './scene.ts';
import { judge, noVerdict, type Verdict } from './verdict.ts';

/** What the program asks, and how the world treats it. */
export interface Plot {
  readonly name: string;
  readonly provider: Provider;
  readonly prompts: readonly string[];
  readonly settings?: SimulatorSettingsChange;
  readonly options?: BatchifyOptions;
  readonly faults?: readonly FaultRule[];
  /** How fast the program's clock runs, where the usual speed does not do. */
  readonly speed?: number;
  /** The address of a ledger that nobody has used; otherwise it is a file. */
  readonly database?: () => string | Promise<string>;
}

export interface History extends Verdict {
  /** COMMITs of the last launch, the one that came to its end. */
  readonly commits: number;
}

/** No launch of these programs takes longer, on the busiest machine. */
const patience = 60_000;

/** Launches the program, killing it each time as told, then lets it come to its end, and judges. */
export async function playHistory(plot: Plot, kills: readonly Kill[]): Promise<History> {
  const scene = await openScene(
    plot.provider,
    plot.settings,
    plot.options,
    plot.speed,
    await plot.database?.(),
  );
  const label = `${plot.provider}, ${plot.name}, killed ${kills.map(nameOf).join(' and ')}`;
  for (const fault of plot.faults ?? []) scene.simulator.faults.add(fault);
  let killed = 0;
  try {
    for (const kill of kills) {
      const output = await launch(scene, plot, kill);
      if (output) return await close(scene, plot, killed, label, output);
      killed += 1;
    }
    const output = await launch(scene, plot);
    if (output === undefined) throw new Error('Killed by nobody');
    return await close(scene, plot, killed, label, output);
  } catch (error) {
    const lost = plot.prompts.length;
    const complaints = [`${label}: ${error instanceof Error ? error.message : error}`];
    return { ...noVerdict(), kills: killed, lost, complaints, commits: 0 };
  } finally {
    await scene.close();
  }
}

async function launch(scene: Scene, plot: Plot, kill?: Kill) {
  const trap = kill && setTrap(scene.simulator, kill);
  const point = kill && 'commit' in kill ? { kill } : {};
  const asker = await startAsker(scene.input(plot.prompts, point));
  try {
    const [{ output }] = await soon(Promise.all([asker.ended, trap?.(asker)]), patience);
    return output;
  } finally {
    asker.send('SIGKILL');
  }
}

async function close(
  { simulator }: Scene,
  { prompts }: Plot,
  kills: number,
  label: string,
  output: NonNullable<Awaited<ReturnType<typeof launch>>>,
): Promise<History> {
  const verdict = await judge(simulator, prompts, output.heard);
  const complaints = verdict.complaints.map((complaint) => `${label}: ${complaint}`);
  return { ...verdict, complaints, kills, commits: output.commits };
}
