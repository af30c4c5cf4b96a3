import { refusalBody } from '../openai-like/batches/result-line.ts';
import type { Outcome } from '../world/batches/batch.ts';
import { newId } from '../world/random.ts';
import { mistralDescription } from './description.ts';

/** One line of an output or error file; null for a request that the job did not get to. */
export function resultLine(customId: string, outcome: Outcome): object | null {
  const line = { id: newId('batch-'), custom_id: customId };
  switch (outcome.kind) {
    case 'answered':
      return { ...line, response: { status_code: 200, body: outcome.body }, error: null };
    case 'empty':
      return { ...line, response: { status_code: 200, body: {} }, error: null };
    case 'refused': {
      const { status } = outcome;
      const body = status === 0 ? {} : refusalBody(mistralDescription, outcome);
      return { ...line, response: { status_code: status, body }, error: null };
    }
    case 'unstated':
      return { ...line, response: null, error: 'Request timeout' };
    default:
      return null;
  }
}
