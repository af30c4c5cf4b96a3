import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  OpenAIBatcher,
  openaiInfo,
  type PolledBatch,
  type Remote,
  type Wire,
} from '../../src/batchers/index.ts';
import { batchify } from '../../src/index.ts';
import { chatRequest } from '../support/ask.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

/** A service whose output file can be read while it grows. */
class EarlyBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'early' };

  override async *poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    for await (const remote of super.poll(wire, batches)) {
      yield { ...remote, readable: remote.sources.output !== undefined };
    }
  }
}

it('a call to a server of the user is not kept until that has taken its batch', async () => {
  stage.simulator.faults.nextBatch({ stuckIn: 'in_progress' });
  const controller = new AbortController();
  const scope = batchify(stage.options({ signal: controller.signal }));
  let open: Promise<Response> | undefined;
  const ask = () => {
    const init = chatRequest('held');
    open = scope.run(() => fetch(chatUrl(stage), init));
    return new WeakRef(init);
  };
  const init = ask();
  open?.catch(() => undefined);
  await until(() => {
    collectGarbage();
    return init.deref() === undefined;
  }, 'the call to be forgotten');
  await until(() => scope.stats.batches.submitted === 1, 'its batch to be accepted');
  expect(scope.stats.answered).toBe(0);
  controller.abort(new Error('enough'));
  await expect(open).rejects.toThrow('enough');
});

it('an answer that its caller has dropped is not kept until its batch has ended', async () => {
  stage.simulator.configure({ earlyResults: true });
  stage.simulator.faults.nextBatch({ stuckIn: 'in_progress' });
  const hosts = { [stage.simulator.baseUrl('openai')]: 'early' } as const;
  const controller = new AbortController();
  const { signal } = controller;
  const scope = batchify(stage.options({ hosts, batchers: [EarlyBatcher], signal }));
  const ask = (prompt: string) => fetch(chatUrl(stage), chatRequest(prompt));
  const open = scope.run(() => ask('[[once status 500]]'));
  open.catch(() => undefined);
  const answer = await scope.run(async () => new WeakRef(await ask('answered')));
  await until(() => {
    collectGarbage();
    return answer.deref() === undefined;
  }, 'the answer to be forgotten');
  controller.abort(new Error('enough'));
  await expect(open).rejects.toThrow('enough');
});
