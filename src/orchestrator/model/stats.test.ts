import { describe, expect, it } from 'vitest';
import { addStats, addToStats, emptyStats } from './stats.ts';

const call = { provider: 'openai', endpoint: '/v1/chat/completions', model: 'm' };
const batch = { ...call, batch: 'b-1', count: 2 };

describe('stats', () => {
  it('begin with nothing, each for itself', () => {
    const [one, other] = [emptyStats(), emptyStats()];
    addToStats(one, 'call:captured', call);
    one.batches.submitted += 1;
    expect(other).toEqual({
      captured: 0,
      answered: 0,
      fromLedger: 0,
      realtime: 0,
      flex: 0,
      bypassed: 0,
      heldBack: 0,
      retried: 0,
      maybePaidTwice: 0,
      failed: 0,
      batches: { submitted: 0, slow: 0, ended: 0, collected: 0 },
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      dollars: { paid: 0, saved: 0, realtime: 0, flex: 0 },
      bypassReasons: {},
      failures: {},
      unpriced: {},
    });
  });

  it('are the sum of the events', () => {
    const stats = emptyStats();
    const answered = { ...call, status: 200, inputTokens: 10, outputTokens: 2 } as const;
    for (let index = 0; index < 4; index += 1) addToStats(stats, 'call:captured', call);
    const dollars = { paid: 0.5, saved: 1.5 };
    addToStats(stats, 'call:answered', { ...answered, source: 'batch', dollars });
    addToStats(stats, 'call:answered', { ...answered, source: 'ledger', inputTokens: 5 });
    const full = { paid: 0.25, saved: 0 };
    addToStats(stats, 'call:answered', { ...call, source: 'realtime', status: 399, dollars: full });
    addToStats(stats, 'call:answered', { ...call, source: 'batch', status: 400 });
    addToStats(stats, 'call:bypassed', {
      url: 'https://api.openai.com',
      reason: 'stream',
      sent: true,
    });
    addToStats(stats, 'request:retried', { ...call, attempt: 1, reason: 'server' });
    addToStats(stats, 'batch:submitted', batch);
    addToStats(stats, 'batch:submitted', batch);
    const slow = { ...batch, kind: 'slow', age: 2, usual: 1 } as const;
    addToStats(stats, 'batch:slow', slow);
    addToStats(stats, 'batch:slow', { ...slow, kind: 'stuck', previous: 'slow' });
    addToStats(stats, 'batch:ended', { ...batch, status: 'completed' });
    addToStats(stats, 'batch:collected', { ...batch, answered: 2, failed: 0 });
    expect(stats).toMatchObject({
      captured: 4,
      answered: 4,
      fromLedger: 1,
      realtime: 1,
      bypassed: 1,
      retried: 1,
      failed: 1,
      batches: { submitted: 2, slow: 1, ended: 1, collected: 1 },
      tokens: { input: 15, output: 4, cacheRead: 0, cacheWrite: 0 },
      dollars: { paid: 0.75, saved: 1.5, realtime: 0.25, flex: 0 },
      bypassReasons: { stream: 1 },
      failures: { 400: 1 },
      unpriced: { m: 1 },
    });
  });

  it('name failures by status and code, and only so many of them', () => {
    const stats = emptyStats();
    const failed = { ...call, source: 'batch', status: 429 } as const;
    for (let at = 0; at < 3; at += 1) {
      addToStats(stats, 'call:answered', { ...failed, error: 'rate_limit_exceeded' });
    }
    for (let at = 0; at < 100; at += 1)
      addToStats(stats, 'call:answered', { ...failed, error: `e${at}` });
    expect(stats.failures['429 rate_limit_exceeded']).toBe(3);
    expect(Object.keys(stats.failures)).toHaveLength(21);
    expect(stats.failures.other).toBe(81);
    const sum = emptyStats();
    addStats(sum, stats);
    addStats(sum, stats);
    expect(sum.failures.other).toBe(162);
  });

  it('are not moved by events that they do not sum', () => {
    const stats = emptyStats();
    addToStats(stats, 'queue:flushed', { ...call, count: 2, reason: 'window' });
    addToStats(stats, 'batch:submitting', { ...batch, bytes: 7 });
    addToStats(stats, 'batch:polled', { ...batch, status: 'in_progress' });
    addToStats(stats, 'batch:resent', { ...batch, reason: 'lost' });
    expect(stats).toEqual(emptyStats());
  });
});
