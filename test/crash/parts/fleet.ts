import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServer } from '../../../src/ledger/postgres/test/server.test-helper.ts';
import { type AskEnd, type AskInput, startAsker } from '../../support/processes/asker.ts';
import type { Seeded } from '../../support/seeded.ts';
import { type Relay, startRelay, viaRelay } from '../../support/servers/relay.ts';
import { soon } from '../../support/until.ts';
import { openScene, type Provider } from './scene.ts';
import { addVerdict, judge, noVerdict, type Verdict } from './verdict.ts';

const patience = 120_000;
const hour = 3_600_000;

/** What happens to a machine after so many milliseconds, and for how long. */
interface Trouble {
  readonly kind: 'kill' | 'stop' | 'cut' | 'freeze';
  readonly after: number;
  readonly lasts: number;
}

interface Machine {
  readonly host: string;
  readonly clock: number;
  readonly troubles: readonly Trouble[];
}

/** Several machines with one ledger, each with troubles of its own; the server may restart meanwhile. */
export async function playFleet(
  provider: Provider,
  random: Seeded,
  server: TestServer,
  database: string,
): Promise<Verdict> {
  const settings = { listLag: 100, foreignBatches: true };
  const options = { batchSize: random.between(3, 20) };
  const scene = await openScene(provider, settings, options, undefined, database);
  const prompts = Array.from({ length: 20 }, (_, index) => `question ${index % 12}`);
  const machines = Array.from({ length: 3 }, (_, index) => machine(index, random));
  const restartAfter = random.pick([undefined, random.between(200, 1_500)]);
  let happened = 0;
  const count = () => {
    happened += 1;
  };
  const label = `${provider}, ${JSON.stringify({ machines, restartAfter })}`;

  async function live({ host, clock, troubles }: Machine): Promise<AskEnd> {
    const relay = await startRelay(Number(new URL(database).port));
    const base = scene.input(prompts, { options: { store: viaRelay(database, relay) } });
    const time = { ...(base.time as NonNullable<AskInput['time']>), offset: clock };
    try {
      return await survive({ ...base, host, time }, troubles, relay, count);
    } finally {
      await relay.close();
    }
  }

  try {
    const [ends] = await Promise.all([
      Promise.all(machines.map(live)),
      restartAfter === undefined ? undefined : restart(server, restartAfter).then(count),
    ]);
    const verdicts = await Promise.all(
      ends.map(({ output }) => judge(scene.simulator, prompts, output?.heard ?? [])),
    );
    return verdicts
      .map((verdict): Verdict => {
        const complaints = verdict.complaints.map((complaint) => `${label}: ${complaint}`);
        return { ...verdict, complaints, kills: 0 };
      })
      .reduce(addVerdict, { ...noVerdict(), kills: happened });
  } catch (error) {
    return {
      ...noVerdict(),
      kills: happened,
      lost: prompts.length,
      complaints: [`${label}: ${error}`],
    };
  } finally {
    await scene.close();
  }
}

function machine(index: number, random: Seeded): Machine {
  const kinds = ['kill', 'kill', 'stop', 'cut', 'freeze'] as const;
  return {
    host: `machine-${index}`,
    clock: random.pick([0, hour, -hour]),
    troubles: Array.from({ length: random.between(1, 3) }, () => ({
      kind: random.pick(kinds),
      after: random.between(150, 1_000),
      // Some beyond the lease, some within it.
      lasts: random.between(100, 3_000),
    })),
  };
}

/** Runs the program to its end, starting it again whenever it was killed. */
async function survive(
  input: AskInput,
  troubles: readonly Trouble[],
  relay: Relay,
  count: () => void,
): Promise<AskEnd> {
  let asker = await startAsker(input);
  try {
    for (const { kind, after, lasts } of troubles) {
      const end = await Promise.race([sleep(after), asker.ended]);
      if (end) return end;
      count();
      if (kind === 'kill') {
        asker.send('SIGKILL');
        const killed = await asker.ended;
        if (killed.output) return killed;
        asker = await startAsker(input);
        continue;
      }
      if (kind === 'stop') asker.send('SIGSTOP');
      else relay[kind]();
      await sleep(lasts);
      if (kind === 'stop') asker.send('SIGCONT');
      else relay.heal();
    }
    return await soon(asker.ended, patience);
  } finally {
    asker.send('SIGKILL');
  }
}

let restarting = Promise.resolve();

async function restart(server: TestServer, after: number): Promise<void> {
  await sleep(after);
  restarting = restarting.then(async () => {
    await server.stop();
    await server.start();
  });
  await restarting;
}
