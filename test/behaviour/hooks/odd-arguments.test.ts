import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

function lockedStream(): ReadableStream {
  const stream = new ReadableStream();
  stream.getReader();
  return stream;
}

function lockedRequest(): Request {
  const request = new Request(chatUrl(stage), chatRequest('read by somebody else'));
  request.body?.getReader();
  return request;
}

const throwing = {
  toString() {
    throw new Error('no URL');
  },
};

describe('arguments that fetch cannot read are rejected in a scope as outside of it', () => {
  it.each<[string, () => unknown[]]>([
    ['no arguments', () => []],
    ['a number as method', () => [chatUrl(stage), { ...chatRequest('x'), method: 5 }]],
    ['a symbol as method', () => [chatUrl(stage), { ...chatRequest('x'), method: Symbol('x') }]],
    ['a URL that throws', () => [throwing, { method: 'POST' }]],
    ['a relative URL', () => ['/v1/chat/completions', { method: 'POST' }]],
    ['headers that are none', () => [chatUrl(stage), { ...chatRequest('x'), headers: [null] }]],
    ['a locked stream', () => [chatUrl(stage), { ...chatRequest('x'), body: lockedStream() }]],
    ['a locked Request', () => [lockedRequest()]],
  ])('%s', async (_what, parameters) => {
    const ask = async () => {
      let asked: Promise<Response>;
      try {
        asked = Reflect.apply(fetch, undefined, parameters());
      } catch (error) {
        return `throws ${error}`;
      }
      return asked.then(
        ({ status }) => `${status}`,
        (error: Error) => `rejects with ${error.name}`,
      );
    };
    const outside = await ask();
    const scope = batchify(stage.options());
    expect(await scope.run(ask)).toBe(outside);
    await scope.close();
  });
});

describe.each([true, false])('scope.fetch, with hooks: %s', (hooks) => {
  it.each(['method', 'headers', 'body', 'signal'])('rejects where %s throws', async (name) => {
    const scope = batchify(stage.options({ hooks }));
    const options = Object.defineProperty(chatRequest('x'), name, {
      enumerable: true,
      get() {
        throw new Error('no such option');
      },
    });
    const asked = scope.fetch(chatUrl(stage), options);
    await expect(asked).rejects.toThrow('no such option');
    await scope.close();
  });
});
