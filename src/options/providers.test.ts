import { expect, it } from 'vitest';
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
])(
  'the batcher that has no name is blamed, not the option that asked for it: %o',
  (batcher, why) => {
    const reason = typeof why === 'string' ? why : expect.stringMatching(why);
    let message = '';
    try {
      resolveOptions({ batchers: [batcher], hosts: { h: 'openai' } }, undefined, {});
    } catch (error) {
      message = (error as Error).message;
    }
    const [, found] =
      /^Invalid option batchers: a function \((.*)\)\. Allowed: /.exec(message) ?? [];
    expect(found).toEqual(reason);
  },
);
