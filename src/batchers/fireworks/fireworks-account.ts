import { UnknownOutcomeError } from '../../base/errors.ts';
import { field, text } from '../../base/json.ts';
import type { Wire } from '../../http/wire.ts';
import { judgePlace, type ReplyJudge } from '../shared/judge-reply.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { expectOk } from '../shared/replies.ts';

/** The account that a key belongs to. No call says it, and everything about batches stands below it. */
export async function accountOf(wire: Wire, judge: ReplyJudge): Promise<string> {
  const request = { method: 'GET', path: '/accounts' } as const;
  const body = await (await expectOk(wire, request, judgePlace(judge))).json();
  const accounts = field(body, 'accounts');
  if (!Array.isArray(accounts)) throw notAccounts();
  const [name] = accounts.map((one: unknown) => text(field(one, 'name')));
  if (accounts.length === 1 && name !== undefined) return name.replace(/^accounts\//, '');
  const message =
    `The key belongs to ${accounts.length} accounts of Fireworks. ` +
    'Say which one runs the batches: providers: { fireworks: { account: "my-team" } }.';
  const answer = {
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      error: { message, type: 'invalid_request_error', param: null, code: 'account_unclear' },
    }),
  };
  throw new RefusedError({
    code: 'account_unclear',
    message,
    meaning: 'refused',
    next: 'fail',
    answer,
  });
}

function notAccounts(): UnknownOutcomeError {
  return new UnknownOutcomeError(
    'Fireworks should have sent the accounts of the key, and did not.',
  );
}
