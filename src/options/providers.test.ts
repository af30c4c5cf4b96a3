import { describe, expect, it } from 'vitest';
import type { BatchlingError } from '../base/errors.ts';
import { OpenAIBatcher } from '../batchers/openai/openai-batcher.ts';
import { openaiInfo } from '../batchers/openai/openai-info.ts';
import { resolveOptions } from './index.ts';

class Broken {
  constructor() {
    throw new Error('no such thing');
  }
}

it.each([
  [Broken, '"Broken" cannot be used: no such thing'],
  [class Bare {}, /^"Bare" cannot be used: /],
  [
    class Mute {
      info = {};
    },
    '"Mute" has no info.name',
  ],
  [
    class Vague {
      info = { ...openaiInfo, endpoints: undefined };
    },
    '"Vague" has no list info.endpoints',
  ],
  [
    class Nameless {
      info = { ...openaiInfo, accountHeaders: undefined };
    },
    '"Nameless" has no list info.accountHeaders',
  ],
])(
  'a batcher that lacks its facts is blamed, whether or not an option asks for them: %o',
  (batcher, why) => {
    const reason = typeof why === 'string' ? why : expect.stringMatching(why);
    for (const option of [{}, { hosts: { h: 'openai' } }]) {
      let message = '';
      try {
        resolveOptions({ batchers: [batcher], ...option }, undefined, {});
      } catch (error) {
        message = (error as Error).message;
      }
      const [, found] =
        /^Invalid option batchers: a function \((.*)\)\. Allowed: /.exec(message) ?? [];
      expect(found).toEqual(reason);
    }
  },
);

class Cloud extends OpenAIBatcher {
  override readonly info = {
    ...openaiInfo,
    name: 'cloud',
    settings: {
      deployments: {
        help: 'the batch deployment of each model',
        allowed: 'an object of names',
        parse: (value: unknown) => (typeof value === 'object' ? value : undefined),
      },
      region: {
        help: 'where batches run',
        allowed: '"eu" or "us"',
        parse: (value: unknown) => (value === 'eu' || value === 'us' ? value : undefined),
      },
    },
  };
}

function resolve(providers: unknown) {
  return resolveOptions({ batchers: [Cloud], providers }, undefined, {}).providers;
}

function refusalOf(providers: unknown) {
  try {
    resolve(providers);
  } catch (error) {
    return error as BatchlingError;
  }
  throw new Error('not refused');
}

describe('the settings of a provider', () => {
  it('are those that its batcher declares, and those that all have', () => {
    const credential = () => 'token';
    const given = { cloud: { region: 'eu', credential }, openai: { priceShare: 0.4 } };
    expect(resolve(given)).toEqual(given);
    expect(resolve({ cloud: { region: undefined } })).toEqual({ cloud: {} });
  });

  it.each(['my-batches', 'gs://my-batches', 'gs://my-batches/'])(
    'name a bucket as %s',
    (bucket) => {
      expect(resolve({ vertex: { bucket } })).toEqual({ vertex: { bucket: 'gs://my-batches' } });
    },
  );

  it.each([
    [{ vertex: { bucket: 's3://mine' } }, '"s3://mine" (vertex.bucket must be a bucket of Cloud'],
    [{ cloud: { region: 'mars' } }, '"mars" (cloud.region must be "eu" or "us")'],
    [{ cloud: { regio: 'eu' } }, '"regio" (not a setting of cloud; did you mean "region"?)'],
    [{ openai: { region: 'eu' } }, '"region" (not a setting of openai; they are '],
    [{ openai: { credential: 'sk-secret-key' } }, '(not shown) (openai.credential must be a func'],
    [{ openai: { limits: { items: 5 } } }, 'an object (openai.limits must be an object of whole'],
    [{ openai: { limits: { requests: 0 } } }, 'an object (openai.limits must be an object of'],
    [{ openai: { priceShare: 50 } }, '50 (openai.priceShare must be a number from 0 to 1'],
    [{ openai: { priceShare: { 'gpt-*': 2 } } }, 'an object (openai.priceShare must be'],
    [{ openai: { constructor: 1 } }, '"constructor" (not a setting of openai'],
    [{ claud: {} }, '"claud" (not a provider name; did you mean "cloud"?)'],
    [{ cloud: 7 }, '(not shown) (the settings of cloud must be an object)'],
  ])('%j are refused with the setting and its value', (given, why) => {
    const { code, message } = refusalOf(given);
    expect(code).toBe('INVALID_OPTION');
    expect(message).toContain(`Invalid option providers: ${why}`);
  });
});
