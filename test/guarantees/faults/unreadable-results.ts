import {
  answered,
  anthropicOnly,
  both,
  type FaultCase,
  failed,
  forGood,
  openaiOnly,
  type Scene,
  status,
  strike,
} from '../fault-case.ts';

const page = { kind: 'garbage' } as const;
const nothing = status(200, { body: '' });
const many = Array.from({ length: 20 }, (_, at) => `question ${at}`);
const oneFails = {
  prompts: ['one', 'two', 'three [[status 400]]'],
  fates: [answered, answered, failed('400 invalid_request_error', 1)],
};

/** One after another, each once. */
const inTurn =
  (...faults: readonly FaultCase['arrange'][]) =>
  (scene: Scene) => {
    for (const arrange of faults) arrange(scene);
  };

/** Something else stands where the results are, with status 200: whoever believed it would pay again. */
export const unreadableResults: readonly FaultCase[] = [
  {
    fault: 'results: the output file is an HTML page, once, and the error file has a line',
    providers: openaiOnly,
    ...oneFails,
    arrange: strike('results', page),
    sentAgain: 0,
  },
  {
    fault: 'results: the output file is empty, once, and the error file has a line',
    providers: openaiOnly,
    ...oneFails,
    arrange: strike('results', nothing),
    sentAgain: 0,
  },
  {
    fault: 'results: the download breaks off, and then there is an HTML page',
    providers: both,
    prompts: many,
    arrange: inTurn(strike('results', { kind: 'truncate' }), strike('results', page)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: the download breaks off, and then there is an empty body',
    providers: both,
    prompts: many,
    arrange: inTurn(strike('results', { kind: 'truncate' }), strike('results', nothing)),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: an empty body, ten times, and `request_counts` are null',
    providers: both,
    settings: { nullRequestCounts: true },
    arrange: strike('results', nothing, { times: 10 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'results: an HTML page with status 200 for good, of every batch',
    providers: both,
    arrange: strike('results', page, { times: forGood }),
    fates: failed('502 batchling_missing', 0, 3),
    sentAgain: 6,
  },
  {
    fault: 'results: archived by the provider as soon as each batch has ended',
    providers: both,
    settings: { resultsKept: 0 },
    arrange: () => undefined,
    fates: failed('502 batchling_missing', 0, 3),
    sentAgain: 6,
  },
  {
    fault: 'create: answer lost, and the results that prove it are an HTML page, five times',
    providers: anthropicOnly,
    arrange: inTurn(strike('create', { kind: 'lost' }), strike('results', page, { times: 5 })),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: answer lost, and the results that prove it are empty, five times',
    providers: anthropicOnly,
    arrange: inTurn(strike('create', { kind: 'lost' }), strike('results', nothing, { times: 5 })),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault:
      'create: answer lost, and five looks late it is said where the results are that prove it',
    providers: anthropicOnly,
    arrange(scene) {
      strike('create', { kind: 'lost' })(scene);
      scene.simulator.faults.nextBatch({ lateFiles: 5 });
    },
    fates: answered,
    sentAgain: 0,
  },
];
