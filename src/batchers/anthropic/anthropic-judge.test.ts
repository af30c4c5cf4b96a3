import { expect, it } from 'vitest';
import { judgeAnthropic, judgeCreate } from './anthropic-judge.ts';

function reply(status: number, code: string, message = '') {
  const error = { type: 'rate_limit_error', message, details: { error_code: code } };
  return { status, headers: {}, body: JSON.stringify({ type: 'error', error }), message };
}

it.each([
  [429, 'enforced_spend_limit_reached', 'fail'],
  [429, 'organization_on_hold', 'fail'],
  [429, 'ramp_limit_exceeded', 'later'],
  [503, 'cmek_key_unreachable', 'later'],
  [400, 'cmek_key_disabled', 'fail'],
  [400, 'organization_on_hold', 'fail'],
  [400, 'claude_code_key_creator_not_member', 'fail'],
  [429, 'too_many_requests', 'later'],
  [500, 'organization_on_hold', 'later'],
])('a reply with status %i and the code %s means: %s', (status, code, next) => {
  expect(judgeAnthropic(reply(status, code)).next).toBe(next);
});

it.each([
  [400, 'requests.3.params: bad', { next: 'isolate', lines: [4] }],
  [422, 'requests[0] is bad', { next: 'isolate', lines: [1] }],
  [400, 'requests: Field required', { next: 'fail' }],
  [413, 'requests.3 is too large', { next: 'smaller' }],
  [429, 'requests.3', { next: 'later' }],
])('a refused create with status %i and "%s" names its line', (status, message, expected) => {
  expect(judgeCreate(reply(status, '', message))).toMatchObject(expected);
});
