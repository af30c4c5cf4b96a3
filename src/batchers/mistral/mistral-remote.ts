import { fields } from '../../base/json.ts';
import type { Wire } from '../../http/wire.ts';
import type { Remote } from '../batcher.ts';
import { type StatusWords, toRemote } from '../openai/openai-remote.ts';
import { mistralError } from './mistral-error.ts';

const statuses: StatusWords = {
  queued: 'validating',
  running: 'in_progress',
  cancellation_requested: 'cancelling',
  success: 'completed',
  timeout_exceeded: 'expired',
};

/** Mistral's job object in our words. It is OpenAI's with other names, and its errors have no codes. */
export function toMistralRemote(job: unknown, wire: Pick<Wire, 'redact'>): Remote {
  const { output_file: output, error_file: errors, ...rest } = fields(job);
  const batch = {
    ...rest,
    output_file_id: output,
    error_file_id: errors,
    request_counts: {
      total: rest.total_requests,
      completed: rest.succeeded_requests,
      failed: rest.failed_requests,
    },
  };
  const { failure, ...remote } = toRemote(batch, wire, statuses);
  if (failure?.answer === undefined) return remote;
  const body = mistralError('batch_failed', failure.message);
  return { ...remote, failure: { ...failure, answer: { ...failure.answer, body } } };
}
