import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify, realtime } from '../../../src/core.ts';
import { ask, chatRequest } from '../../support/ask.ts';
import { chatUrl, sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Marks our wrapper of fetch. */
const inner = Symbol.for('batchling.fetch.inner');

describe('batchling/core', () => {
  it('touches no global', async () => {
    const before = globalThis.fetch;
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
    const scope = batchify(stage.options());
    await scope.run(() => sourceOf(stage, 'x', scope.fetch));
    expect(globalThis.fetch).toBe(before);
    expect(inner in globalThis.fetch).toBe(false);
    expect(Object.getOwnPropertyDescriptor(globalThis, 'fetch')).toEqual(descriptor);
    await scope.close();
  });

  it('captures through scope.fetch, passed bare, and nothing else', async () => {
    const scope = batchify(stage.options());
    const { fetch: bare } = scope;
    expect(await sourceOf(stage, 'bare', bare)).toBe('batch');
    expect(await scope.run(() => sourceOf(stage, 'global'))).toBe('plain');
    const client = stage.openai({ fetch: bare });
    expect(await ask(client, 'by the SDK')).toContain('answer to "by the SDK"');
    await scope.close();
    expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 1 });
  });

  it('lets calls inside of realtime go out as ordinary ones, but for those of a scope that is made there', async () => {
    const scope = batchify(stage.options());
    expect(await realtime(() => sourceOf(stage, 'now', scope.fetch))).toBe('plain');
    expect(scope.stats).toMatchObject({ captured: 0, bypassed: 0 });
    await realtime(async () => {
      const inside = batchify(stage.options());
      expect(await sourceOf(stage, 'later', inside.fetch)).toBe('batch');
      expect(await realtime(() => sourceOf(stage, 'at once', inside.fetch))).toBe('plain');
      const nested = inside.run(() => batchify());
      expect(await sourceOf(stage, 'further in', nested.fetch)).toBe('batch');
      await nested.close();
      await inside.close();
    });
    await scope.close();
    expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 2 });
  });

  it('strips its own header inside of realtime, too', async () => {
    const scope = batchify(stage.options());
    const off = chatRequest('off', { 'x-batchling': 'off' });
    await realtime(() => scope.fetch(chatUrl(stage), off));
    await scope.close();
    expect(stage.simulator.requests.at(-1)?.headers).not.toHaveProperty('x-batchling');
  });

  it('keeps client timeouts away from a captured call, too', async () => {
    const scope = batchify(stage.options({ window: '60ms' }));
    const client = stage.openai({ fetch: scope.fetch, timeout: 20 });
    expect(await ask(client, 'patience')).toContain('answer to "patience"');
    await scope.close();
    expect(scope.stats.captured).toBe(1);
  });

  it('raises the errors of the SDK', async () => {
    const scope = batchify(stage.options());
    const client = stage.openai({ fetch: scope.fetch });
    await expect(ask(client, '[[status 400]]')).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await scope.close();
  });

  it('passes through once the scope is closed', async () => {
    const scope = batchify(stage.options());
    await scope.close();
    expect(await sourceOf(stage, 'late', scope.fetch)).toBe('plain');
  });

  it('runs a function of which only scope.fetch is captured', async () => {
    const options = stage.options();
    expect(await batchify(() => sourceOf(stage), options)).toBe('plain');
  });
});
