import { expect } from 'vitest';
import {
  answered,
  anthropicOnly,
  apiKey,
  both,
  type Fate,
  type FaultCase,
  failed,
  forGood,
  minute,
  openaiOnly,
  type Played,
  type Provider,
  type requests,
  type Scene,
  second,
  status,
  strike,
} from '../fault-case.ts';

/** An error in the words of the provider. */
function words(provider: Provider, message: string, type: string, code: string): unknown {
  return provider === 'openai'
    ? { error: { message, type, param: null, code } }
    : { type: 'error', error: { type, message, details: { error_code: code } } };
}

/** No more money, or no more account: waiting makes no room. */
function ownersLimit(
  what: keyof typeof requests,
  code: string,
  answer = 429,
): FaultCase['arrange'] {
  return (scene) => {
    const type = scene.provider === 'openai' ? code : 'rate_limit_error';
    const message = 'You have reached a limit of your account. See its billing details.';
    const body = words(scene.provider, message, type, code);
    strike(what, status(answer, { body }), { times: forGood })(scene);
  };
}

function toldAtOnce({ heardAt }: Played): void {
  expect(Math.max(...heardAt)).toBeLessThan(minute);
}

const deniedTypeOf = (provider: Provider) =>
  provider === 'anthropic' ? 'authentication_error' : 'invalid_request_error';

/** The key is refused, and the refusal quotes it. */
function quotingKey(what: keyof typeof requests, code: number, skip = 0): FaultCase['arrange'] {
  return (scene) => {
    const { provider } = scene;
    const body = words(provider, `Wrong key: ${apiKey}`, deniedTypeOf(provider), 'invalid_api_key');
    strike(what, status(code, { body }), { times: forGood, skip })(scene);
  };
}

/** One row per provider: the errors have its words. */
function forEach(
  row: Omit<FaultCase, 'providers' | 'fates'>,
  fate: (provider: Provider) => Fate,
): FaultCase[] {
  return both.map((provider) => ({ ...row, providers: [provider], fates: fate(provider) }));
}

const denied =
  (code: number, billed = 0) =>
  (provider: Provider) =>
    failed(`${code} ${deniedTypeOf(provider)}`, 0, billed);

const afterLost = (arrange: FaultCase['arrange']) => (scene: Scene) => {
  strike('create', { kind: 'lost' })(scene);
  arrange(scene);
};

/** What an account may not do, and what it is told then. */
export const accountFaults: readonly FaultCase[] = [
  {
    fault: 'create: 429 `insufficient_quota`',
    providers: openaiOnly,
    arrange: ownersLimit('create', 'insufficient_quota'),
    fates: failed('429 insufficient_quota'),
    sentAgain: 0,
    check: toldAtOnce,
  },
  {
    fault: 'create: 429 `enforced_spend_limit_reached`',
    providers: anthropicOnly,
    arrange: ownersLimit('create', 'enforced_spend_limit_reached'),
    fates: failed('429 rate_limit_error'),
    sentAgain: 0,
    check: toldAtOnce,
  },
  {
    fault: 'look at the list before a create: 429 `organization_on_hold`',
    providers: anthropicOnly,
    arrange: ownersLimit('list', 'organization_on_hold'),
    fates: failed('429 rate_limit_error'),
    sentAgain: 0,
    check: toldAtOnce,
  },
  {
    fault: 'create: 400 `organization_on_hold`',
    providers: anthropicOnly,
    arrange: ownersLimit('create', 'organization_on_hold', 400),
    fates: failed('400 rate_limit_error'),
    sentAgain: 0,
    check: toldAtOnce,
  },
  {
    fault: 'line: 429 `insufficient_quota`, two of three',
    providers: openaiOnly,
    prompts: [
      'one',
      'two [[status 429 insufficient_quota]]',
      'three [[status 429 insufficient_quota]]',
    ],
    arrange: () => undefined,
    fates: [answered, failed('429 rate_limit_exceeded', 1), failed('429 rate_limit_exceeded', 1)],
    sentAgain: 0,
  },
  {
    fault: 'line: 429 `enforced_spend_limit_reached`, one of two',
    providers: anthropicOnly,
    prompts: ['one', 'two [[status 429 enforced_spend_limit_reached]]'],
    arrange: () => undefined,
    fates: [answered, failed('429 rate_limit_error', 1)],
    sentAgain: 0,
  },
  {
    fault: 'upload: 401 that quotes the key',
    providers: openaiOnly,
    arrange: quotingKey('upload', 401),
    fates: failed('401 invalid_request_error'),
    sentAgain: 0,
  },
  ...forEach(
    { fault: 'create: 403 that quotes the key', arrange: quotingKey('create', 403), sentAgain: 0 },
    denied(403),
  ),
  ...forEach(
    {
      fault: 'poll: 401 that quotes the key, for good',
      arrange: quotingKey('poll', 401),
      sentAgain: 0,
    },
    denied(401, 1),
  ),
  ...forEach(
    {
      fault: 'results: 403 that quotes the key, for good',
      arrange: quotingKey('results', 403),
      sentAgain: 0,
    },
    denied(403, 1),
  ),
  ...forEach(
    {
      fault: 'create: answer lost, and the list answers 401 that quotes the key, for good',
      arrange: (scene) =>
        afterLost(quotingKey('list', 401, scene.provider === 'anthropic' ? 1 : 0))(scene),
      sentAgain: 0,
    },
    denied(401, 1),
  ),
  {
    fault: 'cancel at a `deadline`: 403 that quotes the key, for good',
    providers: both,
    options: { deadline: minute },
    arrange: quotingKey('cancel', 403),
    fates: failed('504 batchling_deadline', 0, 1),
    sentAgain: 0,
  },
  {
    fault: 'deletion of the input file: 401 that quotes the key',
    providers: openaiOnly,
    arrange: quotingKey('deletion', 401),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: 400 "No such File object", for three seconds after the upload',
    providers: openaiOnly,
    settings: { fileLag: 3 * second },
    arrange: () => undefined,
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: 404 "No such File object", three times',
    providers: openaiOnly,
    arrange: strike('create', status(404, { body: unknownFile() }), { times: 3 }),
    fates: answered,
    sentAgain: 0,
  },
  {
    fault: 'create: 400 "No such File object", for good',
    providers: openaiOnly,
    arrange: strike('create', status(400, { body: unknownFile() }), { times: forGood }),
    fates: failed('400 invalid_request_error'),
    sentAgain: 0,
    check({ heardAt }) {
      expect(heardAt[0]).toBeGreaterThan(minute);
      expect(heardAt[0]).toBeLessThan(3 * minute);
    },
  },
];

function unknownFile(): unknown {
  const message = 'No such File object: file-1';
  return words('openai', message, 'invalid_request_error', 'not_found');
}
