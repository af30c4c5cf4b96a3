import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  OpenAIBatcher,
  openaiInfo,
  type PolledBatch,
  type Remote,
  type Row,
  type Wire,
} from '../../../src/batchers/index.ts';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cursors: (string | undefined)[];

beforeEach(async () => {
  stage = await openStage();
  cursors = [];
  stage.simulator.configure({ earlyResults: true });
});

afterEach(() => stage.close());

/** A service whose output file can be read while it grows, from any line on. */
class EarlyBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'early' };

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
    cursors.push(cursor);
    let line = 0;
    for await (const rows of super.results(wire, remote)) {
      const fresh = rows.filter((_, index) => line + index >= Number(cursor ?? 0));
      line += rows.length;
      yield [...fresh, { cursor: String(line) }];
    }
  }
}

function options(given = {}) {
  const hosts = { [stage.simulator.baseUrl('openai')]: 'early' } as const;
  return stage.options({ hosts, batchers: [EarlyBatcher], ...given });
}

const prompts = ['a', 'b', 'c'];

describe('results that can be read before a batch has ended', () => {
  it('reach their callers at once, though the batch never ends', async () => {
    stage.simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const scope = batchify(options());
    const client = stage.openai();
    const answers = await scope.run(() =>
      Promise.all(prompts.map((prompt) => ask(client, prompt))),
    );
    await scope.close();
    for (const [index, prompt] of prompts.entries())
      expect(answers[index]).toContain(`"${prompt}"`);
    expect(stage.simulator.batches().map(({ phase }) => phase)).toEqual(['in_progress']);
    expect(scope.stats).toMatchObject({ answered: 3, batches: { submitted: 1, collected: 1 } });
  });

  it('are read on from where the last reading ended', async () => {
    stage.simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const scope = batchify(options());
    const client = stage.openai({ maxRetries: 0 });
    // The second comes in no early line, so the batch is not over with the first.
    const calls = ['a', '[[once status 500]]'].map((prompt) =>
      scope.run(() => ask(client, prompt)),
    );
    expect(await calls[0]).toContain('"a"');
    await until(() => cursors.includes('1'), 'a reading behind the first line');
    await until(() => stage.simulator.meter.failed === 1, 'the execution that fails');
    const [batch] = stage.simulator.batches();
    await client.batches.cancel(batch?.id as string);
    expect(await calls[1]).toContain('[[once status 500]]');
    await scope.close();
    expect(cursors[0]).toBeUndefined();
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    expect(scope.stats).toMatchObject({ answered: 2, failed: 0, retried: 1 });
  });
});
