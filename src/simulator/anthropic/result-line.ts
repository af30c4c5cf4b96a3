import { Refusal } from '../server/exchange.ts';
import type { Outcome } from '../world/batches/batch.ts';
import { newId } from '../world/random.ts';
import { errorBody } from './errors.ts';

/** One line of a result file. */
export function resultLine(customId: string, outcome: Outcome): string {
  return JSON.stringify({ custom_id: customId, result: resultOf(outcome) });
}

function resultOf(outcome: Outcome) {
  switch (outcome.kind) {
    case 'answered':
      return { type: 'succeeded', message: outcome.body };
    case 'empty':
      return { type: 'succeeded', message: {} };
    case 'refused': {
      if (outcome.body !== undefined) return { type: 'errored', error: outcome.body };
      const { status, message, code } = outcome;
      const refusal = new Refusal(status, message, code === undefined ? {} : { code });
      return { type: 'errored', error: errorBody(refusal, newId('req_')) };
    }
    case 'unstated': {
      const refusal = new Refusal(500, 'Request timeout', { type: 'strange_error' });
      return { type: 'errored', error: errorBody(refusal, newId('req_')) };
    }
    default:
      return { type: outcome.kind };
  }
}
