import { expect, it } from 'vitest';
import { bad, fingerprintOf, type LedgerSubject, openBench } from './subject.test-helper.ts';

/** For ledgers that outlive their process. */
export function unusedConformance(subject: LedgerSubject): void {
  it('drops accounts and queues that nothing refers to, with what was learnt about them', async () => {
    const { ledger, me, send, clock } = await openBench(subject);
    const account = (number: number) =>
      ledger.account({ provider: 'openai', hash: new Uint8Array(32).fill(number) });
    const place = { provider: 'openai', base: 'https://api.openai.com/v1', endpoint: '/v1/chat' };
    const open = async (number: number) => {
      const id = await account(number);
      const key = { ...place, account: id, model: 'gpt-5', batchHeaders: {} };
      return { account: id, queue: await ledger.queue(key) };
    };
    const refused = [await open(1), await open(2), await open(3)];
    for (const [index, { queue }] of refused.entries()) {
      const ask = { fingerprint: fingerprintOf(100 + index), occurrence: 0, queue, cache: true };
      const [admission] = await ledger.admit(me, [ask]);
      await ledger.settled(me, [{ request: admission!.request, is: 'answer', answer: bad }]);
    }
    await ledger.learn(refused[0]!.account, 'gpt-5', { tokens: 1, named: true });
    await ledger.learn(refused[2]!.account, 'gpt-5', { tokens: 3, named: true });
    const { lease } = await send([1]);
    const used = (await ledger.unfinished())[0]!.queue;
    await open(4);

    clock.time = 2_000;
    await ledger.prune({ olderThan: -1 });
    // Their owner is here, and may ask with them again.
    expect([await open(1), await open(2), await open(3)]).toEqual(refused);

    await ledger.leave(me);
    clock.time = 3_000;
    const other = await ledger.join({ run: 'another', host: 'here', pid: 2 });
    // This one is in the memory of an owner that is here, although nothing refers to it yet.
    expect(await open(1)).toEqual(refused[0]);
    clock.time = 4_000;
    await ledger.prune({ olderThan: -1, dryRun: true });
    expect(await ledger.limit(refused[2]!.account, 'gpt-5')).toMatchObject({ tokens: 3 });
    await ledger.prune({ olderThan: -1 });
    expect(await ledger.limit(refused[0]!.account, 'gpt-5')).toMatchObject({ tokens: 1 });
    expect(await ledger.limit(refused[2]!.account, 'gpt-5')).toBeUndefined();
    expect(await open(1)).toEqual(refused[0]);
    const again = await open(2);
    expect(again.account).not.toBe(refused[1]!.account);
    expect(again.queue).not.toBe(refused[1]!.queue);
    expect((await ledger.claim(other, lease.batch))?.queue).toEqual(used);
    expect(await account(0)).toBe(used.account);
  });
}
