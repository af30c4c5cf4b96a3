import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ContentTooLargeError,
  GatewayTimeoutError,
  InternalServerError,
  NotFoundError,
  OverloadedError,
  PermissionDeniedError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** What the official client, with its usual retries, makes of one call in a scope. */
async function errorOf(prompt = 'one'): Promise<InstanceType<typeof Anthropic.APIError>> {
  const scope = batchify(stage.options({ attempts: 2 }));
  const error = await scope.run(() =>
    askClaude(stage.anthropic(), prompt).catch((reason: unknown) => reason),
  );
  await scope.close();
  // The client took it as final.
  expect(scope.stats.captured).toBe(1);
  expect(error).toBeInstanceOf(APIError);
  return error as InstanceType<typeof Anthropic.APIError>;
}

describe('an error of one request', () => {
  it.each([
    ['invalid_request_error', 400, BadRequestError, 1],
    ['authentication_error', 401, AuthenticationError, 1],
    ['billing_error', 402, APIError, 1],
    ['permission_error', 403, PermissionDeniedError, 1],
    ['not_found_error', 404, NotFoundError, 1],
    ['conflict_error', 409, ConflictError, 1],
    ['request_too_large', 413, ContentTooLargeError, 1],
    ['rate_limit_error', 429, RateLimitError, 2],
    ['api_error', 500, InternalServerError, 2],
    ['timeout_error', 504, GatewayTimeoutError, 2],
    ['overloaded_error', 529, OverloadedError, 2],
    ['error_of_tomorrow', 500, InternalServerError, 2],
  ] as const)(
    'of type %s has status %i and its own class',
    async (type, status, kind, attempts) => {
      const message = `about ${type}`;
      stage.simulator.configure({
        // The number of the answer says nothing: what stands in a line is the type.
        answer: () => ({
          status: 400,
          body: { type: 'error', error: { type, message }, request_id: 'req_of_the_line' },
        }),
      });
      const error = await errorOf();
      expect(error.constructor).toBe(kind);
      expect(error).toMatchObject({ status, type, requestID: 'req_of_the_line' });
      expect(error.message).toContain(message);
      expect(stage.simulator.meter).toMatchObject({ total: 0, failed: attempts });
    },
  );

  it('keeps the code that names its cause, and a limit of the owner is not tried again', async () => {
    const details = { error_code: 'enforced_spend_limit_reached' };
    const inner = { type: 'rate_limit_error', message: 'monthly limit', details };
    stage.simulator.configure({
      answer: () => ({ status: 429, body: { type: 'error', error: inner, request_id: null } }),
    });
    const error = await errorOf();
    expect(error).toBeInstanceOf(Anthropic.EnforcedSpendLimitReachedError);
    expect(error).toMatchObject({ errorCode: 'enforced_spend_limit_reached', status: 429 });
    expect(stage.simulator.meter.failed).toBe(1);
  });

  it('leaves the others of its batch alone', async () => {
    const prompts = ['one', 'two [[status 400]]', 'three'];
    const outcomes = await batchify(
      () => Promise.allSettled(prompts.map((prompt) => askClaude(stage.anthropic(), prompt))),
      stage.options(),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('a create that is refused', () => {
  const create = { method: 'POST', path: '/v1/messages/batches' };

  function refuse(status: number, type: string, code?: string) {
    const details = code === undefined ? {} : { details: { error_code: code } };
    const error = { type, message: `no batch: ${code ?? type}`, ...details };
    const body = { type: 'error', error, request_id: 'req_of_the_create' };
    return stage.simulator.faults.add({
      ...create,
      times: Number.POSITIVE_INFINITY,
      action: { kind: 'status', status, body },
    });
  }

  it.each([
    [
      429,
      'rate_limit_error',
      'enforced_spend_limit_reached',
      Anthropic.EnforcedSpendLimitReachedError,
    ],
    [400, 'invalid_request_error', 'organization_on_hold', Anthropic.OrganizationOnHoldError],
    [400, 'invalid_request_error', 'cmek_key_disabled', Anthropic.CMEKKeyDisabledError],
    [
      400,
      'invalid_request_error',
      'claude_code_key_creator_not_member',
      Anthropic.ClaudeCodeKeyCreatorNotMemberError,
    ],
    [400, 'invalid_request_error', undefined, BadRequestError],
    [401, 'authentication_error', undefined, AuthenticationError],
    [402, 'billing_error', undefined, APIError],
    [403, 'permission_error', undefined, PermissionDeniedError],
  ] as const)(
    'with %i, %s and %s is told to its callers at once',
    async (status, type, code, kind) => {
      const refusal = refuse(status, type, code);
      const error = await errorOf();
      expect(error.constructor).toBe(kind);
      expect(error).toMatchObject({ status, type, errorCode: code ?? null });
      expect(error.message).toContain(`no batch: ${code ?? type}`);
      expect(refusal.hits).toBe(1);
      expect(stage.simulator.batches()).toEqual([]);
    },
  );

  it('for one request that it names is no harm to the others', async () => {
    const prompts = ['one', 'two [[invalid]]', 'three'];
    const outcomes = await batchify(
      () => Promise.allSettled(prompts.map((prompt) => askClaude(stage.anthropic(), prompt))),
      stage.options(),
    );
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { status: 400, type: 'invalid_request_error' } },
      { status: 'fulfilled' },
    ]);
    expect(stage.simulator.meter.total).toBe(2);
  });
});
