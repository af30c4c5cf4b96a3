import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { RegisteredBatcher } from '../../batchers/registry.ts';
import { rawCall } from '../../hooks/raw-call.ts';
import { resolveOptions } from '../../options/index.ts';
import { systemClock } from '../../options/system-clock.ts';
import { Router, type Target } from '../../orchestrator/capture/router.ts';
import type { Verdict } from '../../orchestrator/model/call.ts';
import { type CallOwner, ClientCall, type IncomingCall } from '../calls/client-call.ts';
import { ScopeEvents } from '../scope-events.ts';
import { EngineEntry } from './engine-entry.ts';
import { scopeTerms } from './scope-terms.ts';

const options = resolveOptions({ store: ':memory:', display: 'none', window: '1h' });
const owner: CallOwner = {
  ended: () => undefined,
  clock: systemClock,
  resultOf: (_call, verdict) => verdict as never,
};

function targetOf(make: () => Promise<OpenAIBatcher>): Target {
  const { info } = new OpenAIBatcher();
  const router = new Router([new RegisteredBatcher(info, make)], []);
  return router.find('https://api.openai.com/v1/chat/completions') as Target;
}

const neverAnswered = async () => undefined;
const working = () => targetOf(async () => new OpenAIBatcher());
const broken = () => targetOf(() => Promise.reject(new Error('no such module')));

function engineOf(given = options) {
  const events = new ScopeEvents();
  const opened = new EngineEntry(given, events);
  const scope = scopeTerms(given, events);
  return {
    release: () => opened.release(),
    enter(target: Target, body = 'no JSON: it comes out again at once'): Promise<Verdict> {
      const request = { url: '', headers: {}, body: Buffer.from(body), answered: neverAnswered };
      const incoming = rawCall(request, new AbortController().signal) as IncomingCall<never>;
      const facts = { scope, target, headers: {}, body, mayGoOut: false };
      const call = new ClientCall<Verdict>(owner, incoming, facts);
      opened.enter(call);
      return call.result;
    },
  };
}

describe('a batcher that cannot be loaded', () => {
  it('has its calls rejected, and lets those of the others in', async () => {
    const { enter, release } = engineOf();
    const calls = [broken(), working(), broken()].map((target) => enter(target));
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: 'rejected', reason: { message: 'no such module' } },
      { value: { bypass: expect.any(String) } },
      { status: 'rejected' },
    ]);
    await expect(enter(broken())).rejects.toThrow('no such module');
    expect(await enter(working())).toHaveProperty('bypass');
    await release();
  });
});

describe('what could not be loaded', () => {
  it('is tried again by the next call: a batcher', async () => {
    let broken = true;
    const target = targetOf(async () => {
      if (broken) throw new Error('too many open files');
      return new OpenAIBatcher();
    });
    const { enter, release } = engineOf();
    const together = await Promise.allSettled([enter(target), enter(target)]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await enter(target)).toHaveProperty('bypass');
    await release();
  });

  it('is tried again by the next call: the ledger', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'batchling-engine-'));
    try {
      const store = join(folder, 'ledger.db');
      writeFileSync(store, 'this is no database, and long enough to be looked at'.repeat(100));
      const { enter, release } = engineOf(resolveOptions({ store, display: 'none', window: '1h' }));
      const refused = { answer: { status: 500 } };
      expect(await Promise.all([enter(working()), enter(working())])).toMatchObject([
        refused,
        refused,
      ]);
      rmSync(store);
      expect(await enter(working())).toHaveProperty('bypass');
      await release();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('an engine that was released', () => {
  const cancelled = { answer: { status: 499 } };

  it('answers calls that come too late', async () => {
    const { enter, release } = engineOf();
    await enter(working());
    await release();
    expect(await enter(working())).toMatchObject(cancelled);
    const target = working();
    await target.load();
    expect(await enter(target)).toMatchObject(cancelled);
  });

  it('is not opened', async () => {
    const { enter, release } = engineOf();
    await release();
    expect(await enter(working())).toMatchObject(cancelled);
  });

  it('answers calls that were on their way in', async () => {
    const { enter, release } = engineOf();
    const call = enter(working(), '{"model":"gpt-test","messages":[]}');
    await release();
    expect(await call).toMatchObject(cancelled);
  });
});
