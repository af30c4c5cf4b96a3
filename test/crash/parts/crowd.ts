import { setTimeout as sleep } from 'node:timers/promises';
import { type AskEnd, startAsker } from '../../support/processes/asker.ts';
import type { Seeded } from '../../support/seeded.ts';
import { soon } from '../../support/until.ts';
import { openScene, type Provider } from './scene.ts';
import { addVerdict, judge, noVerdict, type Verdict } from './verdict.ts';

const patience = 60_000;

/** Several programs at once on one ledger; each is killed at its own moment and starts again. */
export async function playCrowd(provider: Provider, random: Seeded): Promise<Verdict> {
  const settings = { listLag: 100, foreignBatches: true };
  const scene = await openScene(provider, settings, { batchSize: random.between(3, 20) });
  const prompts = Array.from({ length: 20 }, (_, index) => `question ${index % 12}`);
  const input = scene.input(prompts);
  let kills = 0;

  async function member(moments: readonly number[]): Promise<AskEnd> {
    for (const moment of moments) {
      const asker = await startAsker(input);
      await Promise.race([sleep(moment), asker.ended]);
      asker.send('SIGKILL');
      const end = await asker.ended;
      if (end.output) return end;
      kills += 1;
    }
    const asker = await startAsker(input);
    try {
      return await soon(asker.ended, patience);
    } finally {
      asker.send('SIGKILL');
    }
  }

  try {
    const moments = Array.from({ length: 3 }, () => [random.between(200, 1_200)]);
    moments.push([random.between(300, 900), random.between(300, 900)]);
    const ends = await Promise.all(moments.map(member));
    const verdicts = await Promise.all(
      ends.map(({ output }) => judge(scene.simulator, prompts, output?.heard ?? [])),
    );
    const label = `${provider}, a crowd killed at ${JSON.stringify(moments)}`;
    return verdicts
      .map((verdict): Verdict => {
        const complaints = verdict.complaints.map((complaint) => `${label}: ${complaint}`);
        return { ...verdict, complaints, kills: 0 };
      })
      .reduce(addVerdict, { ...noVerdict(), kills });
  } catch (error) {
    const complaints = [`${provider}, a crowd: ${error}`];
    return { ...noVerdict(), kills, lost: prompts.length, complaints };
  } finally {
    await scene.close();
  }
}
