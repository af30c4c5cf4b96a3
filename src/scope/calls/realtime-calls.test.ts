import { expect, it } from 'vitest';
import type { SignalUser } from '../../hooks/border.ts';
import { rawCall } from '../../hooks/raw-call.ts';
import { systemClock } from '../../options/system-clock.ts';
import { type CallFacts, type CallOwner, ClientCall, type IncomingCall } from './client-call.ts';
import { letOutRealtime, type RealtimeRules } from './realtime-calls.ts';

const rules = {
  atOnce: 1,
  clock: systemClock,
  line: new AbortController().signal,
  route: { mayBeRetried: () => undefined },
  answered: () => undefined,
} as unknown as RealtimeRules;

const owner: CallOwner = {
  clock: systemClock,
  ended: () => undefined,
  async resultOf(call) {
    await letOutRealtime(call, rules, () => undefined);
    return call.send();
  },
};

it('a client without a signal that gives up leaves the line of ordinary calls', async () => {
  let answer: (status: number) => void = () => undefined;
  const answered = new Promise<number>((resolve) => {
    answer = resolve;
  });
  const users: Pick<SignalUser, 'giveUp'>[] = [];
  const goOut = () => {
    const request = { url: '', headers: {}, body: Buffer.from('{}'), answered: () => answered };
    const incoming = {
      ...rawCall(request, undefined),
      capturedAs: (call: Pick<SignalUser, 'giveUp'>) => users.push(call),
    };
    const call = new ClientCall(owner, incoming as IncomingCall, {} as CallFacts);
    call.settle({ realtime: rules.route });
    return call.result;
  };
  const [first, second] = [goOut(), goOut()];
  expect(await first).toBeUndefined();
  // The first has no answer yet, so the second still waits for its turn.
  users[1]?.giveUp('timeout');
  await expect(second).rejects.toBe('timeout');
  answer(200);
  expect(await goOut()).toBeUndefined();
});
