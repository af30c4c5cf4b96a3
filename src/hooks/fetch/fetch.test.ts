import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fetch, HookScope } from '../border.ts';
import { sharedState } from '../state.ts';
import { hookFetch, isFetchHooked, plainFetch } from './fetch.ts';

const native = globalThis.fetch;
const cleanups: (() => unknown)[] = [];
let url: string;
let seen: { method: string | undefined; header: string | undefined; body: string }[];

beforeEach(async () => {
  seen = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const header = request.headers['x-mark'];
    seen.push({ method: request.method, header: header?.toString(), body });
    response.end('real');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => void server.close().closeAllConnections());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  globalThis.fetch = native;
});

function hook(): () => void {
  const undo = hookFetch();
  cleanups.push(undo);
  return undo;
}

/** A scope that lets every call out, and counts how often it was asked. */
function passingScope(): HookScope & { asked: number } {
  return {
    open: true,
    hooked: true,
    parent: undefined,
    asked: 0,
    planRequest: () => 'leave',
    escaped: () => undefined,
    leaveToMock: () => false,
    handle(call) {
      this.asked += 1;
      return call.send();
    },
  };
}

function inside<T>(scope: HookScope, fn: () => T): T {
  return sharedState().scopes.run(scope, fn);
}

describe('the hook around fetch', () => {
  it('looks like the fetch it replaces', () => {
    hook();
    expect(globalThis.fetch).not.toBe(native);
    expect(globalThis.fetch.name).toBe(native.name);
    expect(globalThis.fetch.length).toBe(native.length);
    expect(plainFetch()).toBe(native);
  });

  it('passes everything on as it came where there is no scope', async () => {
    hook();
    const request = new Request(url, { method: 'PUT', body: 'abc', headers: { 'x-mark': '1' } });
    expect(await (await fetch(request)).text()).toBe('real');
    expect(seen).toEqual([{ method: 'PUT', header: '1', body: 'abc' }]);
    await expect(fetch('no url')).rejects.toThrow(TypeError);
  });

  it('asks the scope, and only inside of it', async () => {
    hook();
    const scope = passingScope();
    await inside(scope, () => fetch(url, { method: 'POST', body: 'x' }));
    await fetch(url);
    expect(scope.asked).toBe(1);
    expect(seen).toHaveLength(2);
  });

  it('is gone after its undo', () => {
    const undo = hook();
    undo();
    expect(globalThis.fetch).toBe(native);
  });

  it('wraps once, however often it is asked for', async () => {
    hook();
    const wrapped = globalThis.fetch;
    hook();
    expect(globalThis.fetch).toBe(wrapped);
  });

  it('asks the scope once, although another library has wrapped fetch in between', async () => {
    hook();
    const ours = globalThis.fetch;
    globalThis.fetch = ((input, init) => ours(input, init)) as Fetch;
    hook();
    const scope = passingScope();
    await inside(scope, () => fetch(url, { method: 'POST', body: 'x' }));
    expect(scope.asked).toBe(1);
    expect(seen).toHaveLength(1);
  });

  it('still works when fetch is replaced by something else afterwards', async () => {
    hook();
    const other: Fetch = () => Promise.resolve(new Response('other'));
    globalThis.fetch = other;
    hook();
    const scope = passingScope();
    const text = await inside(scope, async () => (await fetch(url)).text());
    expect([text, scope.asked]).toEqual(['other', 1]);
  });

  describe('hands on what a scope lets out', () => {
    /** A fetch of somebody else, below ours. */
    function record() {
      const calls: { self: unknown; values: unknown[] }[] = [];
      globalThis.fetch = function (this: unknown, ...values: unknown[]) {
        calls.push({ self: this, values });
        return Promise.resolve(new Response('recorded'));
      } as Fetch;
      hook();
      return calls;
    }
    const init = { method: 'POST', body: 'x' };
    const third = { next: { revalidate: 60 } };
    const all: [what: string, values: unknown[]][] = [
      ['no argument', []],
      ['one argument', ['http://h/']],
      ['one that is undefined', ['http://h/', undefined]],
      ['two', ['http://h/', init]],
      ['three', ['http://h/', init, third]],
    ];

    it.each(all)('with %s', (_what, values) => {
      const calls = record();
      const self = { fetch };
      const send = () => Reflect.apply(fetch, self, values);
      void inside(passingScope(), send);
      void send();
      for (const call of calls) {
        expect(call.self).toBe(self);
        expect(call.values).toHaveLength(values.length);
        for (const [index, value] of values.entries()) expect(call.values[index]).toBe(value);
      }
      expect(calls).toHaveLength(2);
    });

    it('with what the scope has changed, and the rest as it came', () => {
      const calls = record();
      const { signal } = new AbortController();
      const scope = passingScope();
      scope.handle = (call) => call.send(signal);
      const send = () => Reflect.apply(fetch, undefined, ['http://h/', init, third]);
      void inside(scope, send);
      expect(calls[0]?.values).toEqual(['http://h/', { ...init, signal }, third]);
    });
  });

  it('is skipped by plainFetch, which skips no other wrapper that inherits from it', () => {
    hook();
    const ours = globalThis.fetch;
    const theirs: Fetch = Object.setPrototypeOf(
      (...values: Parameters<Fetch>) => ours(...values),
      ours,
    );
    globalThis.fetch = theirs;
    expect(plainFetch()).toBe(theirs);
  });

  it('does nothing where Node has no fetch', () => {
    Reflect.deleteProperty(globalThis, 'fetch');
    hook();
    expect([typeof fetch, isFetchHooked()]).toEqual(['undefined', true]);
  });
});
