import type { Outcome, Refused } from '../world/batches/batch.ts';

/** Numbers of gRPC for the statuses of HTTP that have one. */
const rpcCodes: Record<number, number> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 10,
  429: 8,
  500: 13,
  501: 12,
  503: 14,
  504: 4,
};

/** One row of the results; null where there is none, as for what a batch did not get to. */
export function resultRow(id: string, outcome: Outcome): string {
  const parts = partsOf(outcome);
  return JSON.stringify(parts && { batch_request_id: id, ...parts });
}

function partsOf(outcome: Outcome) {
  switch (outcome.kind) {
    case 'answered':
      return answered(outcome.body);
    case 'empty':
      return answered({});
    case 'refused':
      return refused(outcome);
    case 'unstated':
      return { batch_result: { error: 'Request timeout' } };
    case 'canceled':
      return { batch_result: { error: { code: 1, message: 'Cancelled.' } } };
    case 'expired':
      return null;
  }
}

function answered(completion: unknown) {
  return {
    batch_result: {
      response: { chat_get_completion: completion },
      error: { code: 0, message: '' },
    },
  };
}

/** With a word of its own the error is hidden inside of what looks like a success. */
function refused({ status, message, code, body }: Refused) {
  if (body !== undefined) return answered(body);
  if (code !== undefined) return answered({ error: message, code });
  const rpc = rpcCodes[status] ?? (status >= 400 && status < 500 ? 3 : 2);
  return { batch_result: { error: { code: rpc, message } }, error_message: message };
}
