import { expect } from 'vitest';
import {
  answered,
  both,
  type FaultCase,
  failed,
  forGood,
  hour,
  minute,
  openaiOnly,
  type requests,
  type Scene,
  status,
  strike,
} from '../fault-case.ts';
import { impatientDispatcher } from '../impatient-dispatcher.ts';

const many = Array.from({ length: 20 }, (_, at) => `question ${at}`);
const silence = { kind: 'hang', ms: hour } as const;

const everything =
  (action: Parameters<typeof strike>[1]) =>
  ({ simulator }: Scene) => {
    simulator.faults.add({ times: forGood, action });
  };

/** Nobody waits for half a minute of real time: the connections give up sooner. */
const impatient = () => ({ dispatcher: impatientDispatcher() });

/** Cloudflare's own: the origin was reached in vain, or it is not known whether it was. */
const cloudflare = [520, 521, 522, 523, 524, 525, 526];

const eachStatus = (what: keyof typeof requests, accept: boolean) => (scene: Scene) => {
  for (const code of cloudflare) strike(what, status(code, { accept }))(scene);
};

/** How bytes come, or do not come. */
export const transportFaults: readonly FaultCase[] = [
  {
    fault: 'transport: every reply in chunks, without a length',
    providers: both,
    arrange: everything({ kind: 'chunked' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'transport: every reply without a length, and its connection closed',
    providers: both,
    arrange: everything({ kind: 'closing' }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: without a length, and cut off by the end of the connection, three times',
    providers: both,
    prompts: many,
    arrange: strike('results', { kind: 'closing', cut: true }, { times: 3 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: without a length, cut off, three times, and `request_counts` are null',
    providers: both,
    prompts: many,
    settings: { nullRequestCounts: true },
    arrange: strike('results', { kind: 'closing', cut: true }, { times: 3 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: accepted, answered without a length, and cut off',
    providers: both,
    arrange: strike('create', { kind: 'closing', cut: true }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: answer lost, and the list without a length and cut off, five times',
    providers: both,
    arrange(scene) {
      strike('create', { kind: 'lost' })(scene);
      const skip = scene.provider === 'anthropic' ? 1 : 0;
      strike('list', { kind: 'closing', cut: true }, { times: 5, skip })(scene);
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'upload: 520 to 526, one after another',
    providers: openaiOnly,
    arrange: eachStatus('upload', false),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: accepted, but answered 524',
    providers: both,
    arrange: strike('create', status(524, { accept: true })),
    fates: answered,
    sentAgain: 0,
    check: ({ simulator }) => expect(simulator.batches()).toHaveLength(1),
  },
  {
    fault: 'create: 521, and not accepted',
    providers: both,
    arrange: strike('create', status(521)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'poll and results: 520 to 526, one after another',
    providers: both,
    arrange(scene) {
      eachStatus('poll', false)(scene);
      eachStatus('results', false)(scene);
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'silence: an upload',
    providers: openaiOnly,
    options: impatient,
    arrange: strike('upload', silence),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'silence: a create, and it was not accepted',
    providers: both,
    options: impatient,
    arrange: strike('create', silence),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'silence: a create, and it was accepted',
    providers: both,
    options: impatient,
    arrange: strike('create', { kind: 'delay', ms: hour }),
    fates: answered,
    sentAgain: 0,
    check: ({ simulator }) => expect(simulator.batches()).toHaveLength(1),
  },
  {
    fault: 'silence: a list, after a create whose answer was lost',
    providers: both,
    options: impatient,
    arrange(scene) {
      strike('create', { kind: 'lost' })(scene);
      strike('list', silence, { skip: scene.provider === 'anthropic' ? 1 : 0 })(scene);
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'silence: a poll, and the results',
    providers: both,
    options: impatient,
    arrange(scene) {
      strike('poll', silence)(scene);
      strike('results', silence)(scene);
    },
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'silence: a cancel at a `deadline`',
    providers: both,
    options: () => ({ ...impatient(), deadline: minute }),
    settings: { speed: { validating: 20 * minute } },
    arrange: strike('cancel', silence),
    fates: failed('504 batchling_deadline'),
    sentAgain: 0,
  },
  {
    fault: 'silence: the deletion of the input file',
    providers: openaiOnly,
    options: impatient,
    arrange: strike('deletion', silence),
    fates: answered,
    sentAgain: 0,
  },
];
