import { STATUS_CODES } from 'node:http';
import { errorBody as claudeErrorBody } from '../anthropic/errors.ts';
import { errorBody } from '../google/errors.ts';
import { Refusal } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import type { Batch, Outcome } from '../world/batches/batch.ts';
import type { VertexJob } from './details.ts';

/** One row: the line as it came in, when it was processed, and an answer or a status that says why not. */
export function resultRow(
  { details, phase }: Batch<VertexJob>,
  customId: string,
  outcome: Outcome,
  now: number,
): string | null {
  // What was not run when the job ended is not written at all.
  const isLeft = outcome.kind === 'expired' || outcome.kind === 'canceled';
  if (isLeft && phase !== 'in_progress') return null;
  const isClaude = details.publisher === 'anthropic';
  const unknown = { [isClaude ? 'custom_id' : 'key']: customId, request: {} };
  const { request, ...others } = details.echoes.get(customId) ?? unknown;
  return JSON.stringify({
    status: statusOf(outcome, isClaude),
    processed_time: new Date(now).toISOString().replace('Z', '000+00:00'),
    request,
    response: outcome.kind === 'answered' ? outcome.body : {},
    ...others,
  });
}

/** Empty for an answer; else words, and the error as JSON. */
function statusOf(outcome: Outcome, isClaude: boolean): string {
  switch (outcome.kind) {
    case 'refused':
      return told(outcome.status, outcome.message, isClaude, outcome.body);
    case 'expired':
      return told(504, 'The request was not run in time.', isClaude);
    case 'canceled':
      return told(499, 'The request was cancelled.', isClaude);
    default:
      return '';
  }
}

function told(status: number, message: string, isClaude: boolean, body?: unknown): string {
  const refusal = new Refusal(status, message);
  const isOwn = isClaude && status !== 499 && status !== 504;
  const error = (body ??
    (isOwn ? claudeErrorBody(refusal, 'req_vertex') : errorBody(refusal))) as JsonObject;
  return `${STATUS_CODES[status] ?? 'Error'}: ${JSON.stringify(error)}`;
}
