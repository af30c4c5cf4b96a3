import { describe, expect, it } from 'vitest';
import { judgeCreate, judgeOpenAI } from './openai-judge.ts';
import { toRemote } from './openai-remote.ts';

function reply(status: number, error: object = {}, message = '') {
  return { status, headers: {}, body: JSON.stringify({ error }), message };
}

describe('a reply of OpenAI', () => {
  it.each([
    [{ code: 'insufficient_quota' }, 'fail'],
    [{ type: 'insufficient_quota' }, 'fail'],
    [{ code: 'billing_hard_limit_reached' }, 'fail'],
    [{ code: 'billing_not_active' }, 'fail'],
    [{ code: 'rate_limit_exceeded' }, 'later'],
    [{}, 'later'],
  ])('with status 429 and %j means: %s', (error, next) => {
    expect(judgeOpenAI(reply(429, error))).toEqual({ meaning: 'full', next });
  });

  it('with status 500 leaves open what happened, whatever its words', () => {
    const verdict = judgeOpenAI(reply(500, { code: 'insufficient_quota' }));
    expect(verdict).toEqual({ meaning: 'busy', next: 'later', unclear: true });
  });

  it.each([
    [400, 'No such File object: file-1', 'later'],
    [404, 'File file-1 not found', 'later'],
    [404, 'Input file file-1 does not exist', 'later'],
    [400, 'No such model', 'fail'],
    [403, 'No such File object: file-1', 'fail'],
  ])('to a create with status %i and "%s" means: %s', (status, message, next) => {
    expect(judgeCreate(judgeOpenAI)(reply(status, {}, message)).next).toBe(next);
  });
});

describe('the words of a copy of OpenAI', () => {
  const words = {
    success: 'completed',
    timeout_exceeded: 'expired',
    queued: 'validating',
  } as const;
  const remote = (status: string) =>
    toRemote({ id: 'b', status, output_file_id: 'f' }, { redact: (text) => text }, words);

  it.each([
    ['SUCCESS', { state: 'ended' }],
    ['TIMEOUT_EXCEEDED', { state: 'ended', unfinished: 'expired' }],
    ['QUEUED', { state: 'queued' }],
    ['CANCELLED', { state: 'ended', unfinished: 'cancelled' }],
    ['Canceled', { state: 'ended', unfinished: 'cancelled' }],
    ['canceling', { state: 'cancelling' }],
    ['RUNNING', { state: 'running' }],
    ['constructor', { state: 'running' }],
  ])('are understood, and kept: %s', (status, expected) => {
    expect(remote(status)).toMatchObject({ raw: status, ...expected });
  });
});
