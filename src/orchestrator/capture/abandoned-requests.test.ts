import { describe, expect, it } from 'vitest';
import type { Caller } from '../model/caller.ts';
import { AbandonedRequests } from './abandoned-requests.ts';

/** Only who it is matters. */
function newCaller(): Caller {
  return {} as Caller;
}

function abandon(requests: AbandonedRequests, key: string, occurrence: number): Caller {
  const client = newCaller();
  requests.add(client, key, occurrence);
  return client;
}

describe('requests that clients gave up', () => {
  it('are taken oldest first, each once, by whoever asks the same', () => {
    const requests = new AbandonedRequests();
    abandon(requests, 'a', 0);
    abandon(requests, 'b', 7);
    abandon(requests, 'a', 1);
    expect(requests.take('a')).toBe(0);
    expect(requests.take('a')).toBe(1);
    expect(requests.take('a')).toBeUndefined();
    expect(requests.take('b')).toBe(7);
  });

  it('are not taken any more once their client has read the answer', () => {
    const requests = new AbandonedRequests();
    const first = abandon(requests, 'a', 0);
    abandon(requests, 'a', 1);
    requests.ended(first);
    requests.read(first);
    expect(requests.take('a')).toBe(1);
    expect(requests.take('a')).toBeUndefined();
  });

  it('stay for the client that came back and gave up again, though the first one reads', () => {
    const requests = new AbandonedRequests();
    const first = abandon(requests, 'a', 0);
    expect(requests.take('a')).toBe(0);
    abandon(requests, 'a', 0);
    requests.read(first);
    expect(requests.take('a')).toBe(0);
  });

  it('are taken by occurrence, where the client names it', () => {
    const requests = new AbandonedRequests();
    for (const occurrence of [0, 1]) abandon(requests, 'a', occurrence);
    expect(requests.take('a', 1)).toBe(1);
    expect(requests.take('a', 1)).toBeUndefined();
    expect(requests.take('a')).toBe(0);
  });

  it('are all remembered while they wait, and the last ten thousand that have their answer', () => {
    const requests = new AbandonedRequests();
    const clients = Array.from({ length: 10_002 }, (_, at) => abandon(requests, `key ${at}`, 0));
    for (const client of clients.slice(1)) requests.ended(client);
    const forgotten = clients.flatMap((_, at) =>
      requests.take(`key ${at}`) === undefined ? [at] : [],
    );
    expect(forgotten).toEqual([1]);
  });
});
