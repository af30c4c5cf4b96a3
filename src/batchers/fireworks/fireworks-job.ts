import { fields, text } from '../../base/json.ts';
import type { Wire } from '../../http/wire.ts';
import type { Remote } from '../batcher.ts';
import { type StatusWords, toRemote } from '../openai/openai-remote.ts';
import type { FailedReply, ReplyJudge, ReplyVerdict } from '../shared/judge-reply.ts';
import { batchBody } from '../shared/reply-shapes.ts';

const statuses: StatusWords = {
  job_state_unspecified: 'validating',
  job_state_creating: 'validating',
  job_state_creating_input_dataset: 'validating',
  job_state_validating: 'validating',
  job_state_pending: 'validating',
  job_state_writing_results: 'finalizing',
  job_state_cancelling: 'cancelling',
  job_state_completed: 'completed',
  job_state_failed: 'failed',
  job_state_expired: 'expired',
  job_state_early_stopped: 'expired',
  job_state_cancelled: 'cancelled',
  job_state_deleting: 'cancelled',
  job_state_deleting_cleaning_up: 'cancelled',
};

/** What is said of a request that fails its whole job. Numbers of lines in it are not to be relied on. */
const aboutRequest = /\b(row|line|record|example|message|role|custom_id|json)s?\b/i;

/** Fireworks's job in our words. A job that failed names a dataset of results that does not exist. */
export function toFireworksRemote(job: unknown, wire: Pick<Wire, 'redact'>): Remote {
  const { name, state, status, jobProgress, outputDatasetId } = fields(job);
  const { message } = fields(status);
  const progress = fields(jobProgress);
  const word = String(state).toLowerCase();
  const batch = {
    id: name,
    status: state,
    errors: message,
    output_file_id: statuses[word] === 'failed' ? undefined : lastSegment(outputDatasetId),
    ...(jobProgress !== undefined && {
      request_counts: {
        total: number(progress.totalInputRequests),
        completed: number(progress.successfullyProcessedRequests),
        failed: number(progress.failedRequests),
      },
    }),
  };
  batchBody({ id: name, state }, 'state');
  const { failure, incomplete, ...remote } = toRemote(batch, wire, statuses);
  return {
    ...remote,
    // A job that was deleted shows no results, however many it counts.
    ...(incomplete && statuses[word] !== 'cancelled' && { incomplete }),
    ...(failure && {
      failure: aboutRequest.test(failure.message) ? { ...failure, next: 'smaller' } : failure,
    }),
  };
}

/** Datasets are told as `accounts/a/datasets/d`, or as `d` alone. */
function lastSegment(name: unknown): string | undefined {
  return text(name)?.split('/').at(-1);
}

function number(value: unknown): number {
  return Number(value ?? 0) || 0;
}

/** The id of a job is ours: where it is taken, an earlier create of the same batch has come through. */
export function judgeJob(judge: ReplyJudge): ReplyJudge {
  return (reply): ReplyVerdict => {
    const verdict = judge(reply);
    return isTaken(reply) ? { ...verdict, unclear: true } : verdict;
  };
}

function isTaken({ status, body, message }: FailedReply): boolean {
  return status === 409 || /ALREADY_EXISTS/.test(body) || /\balready exists\b/i.test(message);
}
