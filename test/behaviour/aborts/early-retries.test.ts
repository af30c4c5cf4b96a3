import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  OpenAIBatcher,
  openaiInfo,
  type PolledBatch,
  type Remote,
  type Row,
  type Wire,
} from '../../../src/batchers/index.ts';
import { batchify } from '../../../src/index.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/connection/open-sqlite.ts';
import { ask, chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;
let readings: (string | undefined)[];

beforeEach(async () => {
  stage = await openStage();
  readings = [];
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

/** A service that shows its lines while it works, from any line on, and is overloaded at first. */
class BusyBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'busy' };

  override async *poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    for await (const remote of super.poll(wire, batches)) {
      yield { ...remote, readable: remote.sources.output !== undefined };
    }
  }

  override async *results(
    wire: Wire,
    remote: Remote,
    cursor?: string,
  ): AsyncIterable<readonly Row[]> {
    readings.push(cursor);
    let line = 0;
    for await (const rows of super.results(wire, remote)) {
      const fresh = rows.filter((_, index) => line + index >= Number(cursor ?? 0));
      line += rows.length;
      yield [...fresh.map(overloaded), { cursor: String(line) }];
    }
  }
}

function overloaded(row: Row): Row {
  if (!('outcome' in row) || row.outcome.kind !== 'answer') return row;
  const { answer } = row.outcome;
  if (stage.simulator.batches().length > 1 || !answer.body.includes('hard')) return row;
  const last = { ...answer, status: 429, body: '{"error":{"message":"overloaded"}}' };
  return { id: row.id, outcome: { kind: 'retry', reason: 'rate-limit', last } };
}

it('a line that says "try again" says so to the next run, too', async () => {
  const { simulator } = stage;
  simulator.configure({ earlyResults: true });
  simulator.faults.nextBatch({ stuckIn: 'in_progress' });
  const hosts = { [simulator.baseUrl('openai')]: 'busy' } as const;
  const options = stage.options({ hosts, batchers: [BusyBatcher], window: '100ms' });

  vi.stubEnv('BATCHLING_RUN', 'ended');
  const stop = new AbortController();
  const ended = batchify({ ...options, signal: stop.signal });
  ended.run(() => {
    for (const prompt of ['hard', 'easy', '[[status 500]]']) {
      fetch(chatUrl(stage), chatRequest(prompt)).catch(() => undefined);
    }
  });
  await until(() => readings.includes('2'), 'a reading behind the first lines');
  stop.abort();
  const ledger = await openSqliteLedger({ path: options.store as string });
  await expect.poll(() => ledger.claimable()).toHaveLength(1);
  await ledger.close();

  vi.stubEnv('BATCHLING_RUN', 'again');
  const scope = batchify(options);
  const reasons: string[] = [];
  scope.on('request:retried', ({ reason }) => reasons.push(reason));
  const client = stage.openai();
  const answers = scope.run(() =>
    Promise.all(['hard', 'easy'].map((prompt) => ask(client, prompt))),
  );
  await until(() => scope.stats.captured === 2, 'the calls');
  const [batch] = simulator.batches();
  await client.batches.cancel(batch?.id as string);
  expect(await soon(answers)).toEqual(
    ['hard', 'easy'].map((prompt) => expect.stringContaining(`"${prompt}"`)),
  );
  await scope.close();
  expect(reasons).toEqual(['rate-limit']);
});

it('a client that gives up before its call is in the ledger gets that call again, also in a shared run', async () => {
  // The ledger counts then, so that the call that was given up has no number yet.
  vi.stubEnv('BATCHLING_RUN', 'a-run-of-several-processes');
  const scope = batchify(stage.options());
  const send = (signal: AbortSignal) => fetch(chatUrl(stage), { ...chatRequest('one'), signal });
  const answers = await scope.run(async () => {
    const first = new AbortController();
    const given = send(first.signal);
    const again = await new Promise<Promise<Response>>((resolve) => {
      setTimeout(() => {
        first.abort();
        resolve(send(new AbortController().signal));
      });
    });
    return Promise.all([given, again]);
  });
  await scope.close();
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(stage.simulator.meter.total).toBe(1);
});
