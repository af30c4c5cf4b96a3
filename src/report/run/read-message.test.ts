import { describe, expect, it } from 'vitest';
import { type DryRunQueue, summaryOf } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { emptyStats } from '../../orchestrator/model/stats.ts';
import { readMessage } from './read-message.ts';
import type { RunMessage } from './run-message.ts';

const facts = { provider: 'openai', endpoint: '/v1/chat/completions', model: 'm' };
const batch = { ...facts, batch: 'bl_1', count: 3 };
const read = (message: unknown) => readMessage(JSON.stringify(message));

const counts = { deep: false, calls: 3, fromLedger: 1, underWay: 0, leftOut: 2, bypassed: 0 };
const queue: DryRunQueue = {
  ...{ provider: 'openai', base: 'https://h/v1', endpoint: '/v1/chat/completions', model: 'm' },
  ...{
    requests: 2,
    batches: 1,
    rounds: 1,
    oneAfterAnother: 1,
    realtime: 0,
    tooLarge: 0,
    inputTokens: 40,
  },
  outputTokens: { least: 10, most: 20 },
  outputBasis: ['limit'],
  dollars: { batch: { least: 1, most: 2 }, realtime: { least: 2, most: 4 } },
};

describe('messages of a process', () => {
  const messages: RunMessage[] = [
    { kind: 'open', store: '/ledger.db', completionWindow: 1 },
    { kind: 'event', time: 1, name: 'batch:submitted', event: batch },
    { kind: 'event', time: 1, name: 'call:captured', event: facts },
    { kind: 'notice', time: 1, notice: { notice: 'trouble', id: '1', text: 'no room' } },
    {
      kind: 'counts',
      stats: { ...emptyStats(), captured: 2, failures: { '429': 2 } },
      queues: [{ provider: 'openai', model: 'm', captured: 2, good: 0, failed: 2, batched: 2 }],
      batches: [{ batch: 'bl_1', good: 0, failed: 2 }],
    },
    { kind: 'typical', times: [{ provider: 'openai', model: 'm', duration: 5 }] },
    { kind: 'closed', time: 1, stats: emptyStats(), note: 'ended' },
    { kind: 'idle' },
    { kind: 'detached', calls: 2, batches: 1 },
    { kind: 'dry-run', scope: 1, summary: summaryOf(counts, [queue]) },
  ];

  it.each(messages.map((message) => [message.kind, message] as const))(
    '%s is read',
    (_, message) => {
      expect(read(message)).toEqual(message);
    },
  );

  it.each([
    '',
    'null',
    '[]',
    '"text"',
    '{"kind":"toString"}',
    '{"kind":"event","time":1,"name":"batch:submitted","event":{}}',
    '{"kind":"event","time":1,"name":"constructor","event":{}}',
    '{"kind":"event","name":"call:bypassed","event":{"url":"a","reason":"b"}}',
    '{"kind":"notice","time":1,"notice":null}',
    '{"kind":"detached","calls":"2","batches":1}',
  ])('%s is none', (line) => {
    expect(readMessage(line)).toBeUndefined();
  });

  it('numbers that are none count as 0, and texts are cut', () => {
    const stats = { captured: 'many', answered: 4, batches: null, failures: { a: 'x', b: 2 } };
    expect(read({ kind: 'counts', stats, queues: 7 })).toEqual({
      kind: 'counts',
      stats: { ...emptyStats(), answered: 4, failures: { a: 0, b: 2 } },
      queues: [],
      batches: [],
    });
    const text = 'x'.repeat(100_000);
    const cut = read({ kind: 'notice', time: 1, notice: { notice: 'hint', text } });
    expect(JSON.stringify(cut).length).toBeLessThan(3_000);
  });
});
