import { expect } from 'vitest';
import {
  answered,
  anthropicOnly,
  both,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  openaiOnly,
  requests,
  type Scene,
  status,
  strike,
} from '../fault-case.ts';

const ok = (body: unknown) => status(200, { body });
const wrapped = { id: 'req_1', error: { message: 'upstream is busy', code: 'busy' } };

const createsOnce: NonNullable<FaultCase['check']> = ({ simulator }) => {
  const { method, path } = requests.create;
  expect(simulator.countRequests(method, path)).toBe(1);
};

/** The answer to the create is lost, and for twenty minutes this stands where the list is. */
const lostAndListed =
  (body: unknown) =>
  (scene: Scene): void => {
    const { simulator, scope, clock, provider } = scene;
    strike('create', { kind: 'lost' })(scene);
    const off = scope.on('batch:submitting', () => {
      off();
      // The first look of Anthropic's is the one before the create.
      const skip = provider === 'anthropic' ? 1 : 0;
      const rule = { ...requests.list, times: forGood, skip, action: ok(body) };
      const fault = simulator.faults.add(rule);
      clock.setTimeout(() => fault.remove(), 20 * minute);
    });
  };

const noLists: Readonly<Record<string, unknown>> = {
  '`{}`': {},
  '`{"data":null}`': { data: null },
  '`{"error":…}`': { error: { message: 'upstream is busy' } },
  '`[]`': [],
  'an HTML page': '<html>this is not JSON</html>',
  'half of a list': '{"object":"list","data":[{"id":"batch_1","st',
};

/** A 200 that holds something else than it should proves nothing: neither that it worked, nor that not. */
export const unknownShapes: readonly FaultCase[] = [
  {
    fault: 'upload: 200 with `{}`, three times',
    providers: openaiOnly,
    arrange: strike('upload', ok({}), { times: 3 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'upload: 200 with `{}` for good',
    providers: openaiOnly,
    arrange: strike('upload', ok({}), { times: forGood }),
    fates: failed('502 batchling_missing'),
    sentAgain: 0,
    check({ heardAt }) {
      expect(heardAt[0]).toBeGreaterThan(15 * minute);
      expect(heardAt[0]).toBeLessThan(18 * minute);
    },
  },
  {
    fault: 'look at the list before a create: 200 with `{}`, three times',
    providers: anthropicOnly,
    arrange: strike('list', ok({}), { times: 3 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: accepted, but answered 200 with `{}`',
    providers: both,
    arrange: strike('create', status(200, { body: {}, accept: true })),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  {
    fault: 'create: accepted, but answered 200 with an error that has an id of its own',
    providers: both,
    arrange: strike('create', status(200, { body: wrapped, accept: true })),
    fates: answered,
    sentAgain: 0,
    check: createsOnce,
  },
  ...Object.entries(noLists).map(
    ([what, body]): FaultCase => ({
      fault: `create: answer lost, and the list is 200 with ${what} for 20 minutes`,
      providers: both,
      arrange: lostAndListed(body),
      fates: answered,
      sentAgain: 0,
      check: createsOnce,
    }),
  ),
  {
    fault: 'poll: 200 with a list, an error with an id of its own, and null, for an hour',
    providers: both,
    arrange({ simulator, scope, clock }) {
      const off = scope.on('batch:submitted', () => {
        off();
        for (const body of [{ data: [] }, { ...wrapped, status: 'failed' }, null]) {
          const rule = { ...requests.poll, times: 30, action: ok(body) };
          const fault = simulator.faults.add(rule);
          clock.setTimeout(() => fault.remove(), hour);
        }
      });
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll: five batches by a list that is 200 with `{}`, always',
    providers: both,
    prompts: ['one', 'two', 'three', 'four', 'five'],
    options: { batchSize: 1 },
    arrange({ simulator, scope }) {
      let submitted = 0;
      scope.on('batch:submitted', () => {
        submitted += 1;
        if (submitted < 5) return;
        simulator.faults.add({ ...requests.list, times: forGood, action: ok({}) });
      });
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'cancel at a `deadline`: 200 with an HTML page, twice, and nothing is cancelled',
    providers: both,
    options: { deadline: minute },
    settings: { speed: { validating: 20 * minute } },
    arrange: strike('cancel', ok('<html>welcome</html>'), { times: 2 }),
    fates: failed('504 batchling_deadline'),
    sentAgain: 0,
  },
  {
    fault: 'deletion of the input file: 200 with `{}`, and nothing is deleted',
    providers: openaiOnly,
    arrange: strike('deletion', ok({}), { times: forGood }),
    fates: answered,
    sentAgain: 0,
  },
];
