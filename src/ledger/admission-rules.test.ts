import { describe, expect, it } from 'vitest';
import { type Decision, decide, type KnownRequest, type Standing } from './admission-rules.ts';

const me: Standing = { isMe: true, sameRun: true, closed: false, alive: true };
const alive: Standing = { isMe: false, sameRun: false, closed: false, alive: true };
const killed: Standing = { ...alive, alive: false };
const left: Standing = { ...killed, closed: true };
const leftOfMyRun: Standing = { ...left, sameRun: true };

const admitted: KnownRequest = { state: 'admitted', hasAnswer: false };
const planned: KnownRequest = { state: 'planned', hasAnswer: false };
const answered: KnownRequest = { state: 'answered', hasAnswer: true };
const erased: KnownRequest = { state: 'answered', hasAnswer: false };
const failed: KnownRequest = { state: 'failed', hasAnswer: true };

const yes = { cache: true };
const no = { cache: false };
const yesWaiting = { cache: true, waiting: true };
const noWaiting = { cache: false, waiting: true };

const rules: [string, KnownRequest, Standing, { cache: boolean; waiting?: boolean }, Decision][] = [
  ['an admitted one of mine', admitted, me, yes, 'wait'],
  ['an admitted one of a living owner', admitted, alive, no, 'wait'],
  ['an admitted one of a killed owner', admitted, killed, yes, 'take'],
  ['an admitted one of an owner that left', admitted, left, no, 'take'],
  ['a planned one of a killed owner', planned, killed, yes, 'wait'],
  ['a planned one of an owner that left', planned, left, no, 'wait'],
  ['an answer of a finished run', answered, left, yes, 'serve'],
  ['an answer of a living owner', answered, alive, yes, 'serve'],
  ['an answer of a killed owner', answered, killed, yes, 'adopt'],
  ['an answer of mine, uncached', answered, me, no, 'serve'],
  ['an answer of a finished run, uncached', answered, left, no, 'renew'],
  ['an answer of a process of my run that left, uncached', answered, leftOfMyRun, no, 'serve'],
  ['an answer of a living owner, uncached', answered, alive, no, 'adopt'],
  ['an answer of a killed owner, uncached', answered, killed, no, 'adopt'],
  ['the answer I waited for, its owner left, uncached', answered, left, noWaiting, 'serve'],
  ['an erased answer', erased, left, yes, 'take'],
  ['an erased answer of mine, uncached', erased, me, no, 'take'],
  ['an erased answer of a finished run, uncached', erased, left, no, 'renew'],
  ['a failed one', failed, left, yes, 'take'],
  ['a failed one I waited for', failed, alive, yesWaiting, 'serve'],
  ['a failed one I waited for, its owner killed', failed, killed, yesWaiting, 'adopt'],
  ['a failed one I waited for, its owner left, uncached', failed, left, noWaiting, 'serve'],
  ['a failed one of a killed owner, uncached', failed, killed, no, 'take'],
  ['a failed one of a finished run, uncached', failed, left, no, 'renew'],
];

describe('decide', () => {
  it.each(rules)('%s', (_, known, standing, ask, decision) => {
    expect(decide(known, ask, () => standing)).toBe(decision);
  });
});
