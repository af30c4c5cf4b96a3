import { Refusal } from '../../server/exchange.ts';
import type { Outcome, Refused } from '../../world/batches/batch.ts';
import { newId } from '../../world/random.ts';
import type { OpenAILike } from '../description.ts';

/** One line of an output or error file. */
export function resultLine(like: OpenAILike, customId: string, outcome: Outcome): string | null {
  const parts = partsOf(like, outcome);
  const line = { id: newId('batch_req_'), custom_id: customId, ...parts };
  const shown = like.resultLine(line);
  return shown === null ? null : JSON.stringify(shown);
}

function partsOf(like: OpenAILike, outcome: Outcome) {
  switch (outcome.kind) {
    case 'answered':
      return response(200, newId('req_'), outcome.body);
    case 'empty':
      return response(200, newId('req_'), {});
    case 'refused':
      // A transport failure on the provider's side: no request id, no body.
      if (outcome.status === 0) return response(0, '', {});
      return response(outcome.status, newId('req_'), refusalBody(like, outcome));
    case 'unstated':
      return neverExecuted('timeout', 'Request timeout');
    case 'expired':
      return neverExecuted(
        'batch_expired',
        'This request could not be executed before the completion window expired.',
      );
    case 'canceled':
      return neverExecuted(
        'batch_cancelled',
        'This request was not executed because the batch was cancelled.',
      );
  }
}

export function refusalBody(like: OpenAILike, outcome: Refused): unknown {
  const { status, message, type, code, param, body } = outcome;
  if (body !== undefined) return body;
  return like.errorBody(
    new Refusal(status, message, {
      ...(type === undefined ? {} : { type }),
      ...(code === undefined ? {} : { code }),
      ...(param === undefined ? {} : { param }),
    }),
  );
}

function response(status: number, requestId: string, body: unknown) {
  return { response: { status_code: status, request_id: requestId, body }, error: null };
}

function neverExecuted(code: string, message: string) {
  return { response: null, error: { code, message } };
}
