import { count, field, text } from '../../base/json.ts';
import type { Counts, Dict, Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { BatchFailure, Plan, Remote } from '../batcher.ts';
import { idOf, type ListPage, listPage } from '../shared/reply-shapes.ts';
import { errorAnswer } from './bedrock-errors.ts';

export const inputName = 'input.jsonl';

/** The token in letters that names of jobs may have. It is also the job's `clientRequestToken`. */
export function jobName(token: string): string {
  return token.replace(/[^A-Za-z0-9]+/g, '-');
}

/** The body of a create: the same bytes for the same batch, so that Bedrock knows a second one by its token. */
export function jobOf({ token, route, tags, completionWindow }: Plan, handle: Handle): object {
  const labels = jobTags(tags);
  return {
    jobName: jobName(token),
    clientRequestToken: jobName(token),
    roleArn: handle.roleArn,
    modelId: route.model,
    // Jobs have known the second type since 2026; the first is what they are without a word.
    ...(route.endpoint === 'Converse' && { modelInvocationType: 'Converse' }),
    inputDataConfig: {
      s3InputDataConfig: { s3Uri: `${handle.folder}${inputName}`, s3InputFormat: 'JSONL' },
    },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: `${handle.folder}output/` } },
    timeoutDurationInHours: Number(completionWindow),
    ...(labels.length > 0 && { tags: labels }),
  };
}

/** The run's name and tags, in letters that tags may have. A key may be there once only. */
function jobTags(tags: Dict): { key: string; value: string }[] {
  const allowed = (value: string) => value.replace(/[^\p{L}\p{N}\s_.:/=+@-]/gu, '_');
  const byKey = new Map(
    Object.entries(tags).map(([key, value]) => [
      allowed(`batchling-${key}`).slice(0, 128),
      allowed(value).slice(0, 256),
    ]),
  );
  return [...byKey].map(([key, value]) => ({ key, value }));
}

/** One page of jobs. */
export function readPage(body: unknown): ListPage {
  const jobs = field(body, 'invocationJobSummaries');
  const named = Array.isArray(jobs)
    ? jobs.map((job: unknown) => ({ ...(job as object), id: field(job, 'jobArn') }))
    : undefined;
  return { batches: listPage({ data: named }).batches, next: text(field(body, 'nextToken')) };
}

const waiting = new Set(['submitted', 'validating', 'scheduled']);
const ended = new Set(['completed', 'partiallycompleted', 'failed', 'stopped', 'expired']);
/** Requests of a job that ended so were left out. */
const cut: Readonly<Record<string, Remote['unfinished']>> = {
  partiallycompleted: 'expired',
  expired: 'expired',
  stopped: 'cancelled',
};

/** A job in our words. `asked`: the batch as we know it, where it is known. */
export function toRemote(
  job: unknown,
  { redact }: Pick<Wire, 'redact'>,
  asked: { readonly count?: number; readonly handle?: Handle } = {},
): Remote {
  const id = idOf({ id: field(job, 'jobArn') }, 'a job');
  const raw = text(field(job, 'status')) ?? 'unknown';
  const status = raw.toLowerCase();
  const counts = countsOf(job, asked.count);
  const isEnded = ended.has(status);
  const hasRun = counts !== undefined && counts.completed + counts.failed > 0;
  // Rows that were written before a job failed are paid for.
  const isFailed = status === 'failed' && !hasRun;
  const unfinished = cut[status];
  return {
    id,
    state: isEnded ? 'ended' : stateOf(status),
    raw,
    // One that never started has nothing to show. Without counts nobody knows.
    readable: isEnded && !isFailed && (status !== 'expired' || hasRun || counts === undefined),
    sources: isEnded && asked.handle ? asked.handle : {},
    ...(counts && { counts }),
    ...(isFailed && { failure: failureOf(redact(text(field(job, 'message')) ?? '')) }),
    ...(unfinished && { unfinished }),
  };
}

/** Words that nobody knows are not terminal: a new state must not end a batch. */
function stateOf(status: string): Remote['state'] {
  if (status === 'stopping') return 'cancelling';
  return waiting.has(status) ? 'queued' : 'running';
}

/** The counts are there once a job runs. */
function countsOf(job: unknown, total: number | undefined): Counts | undefined {
  const known = field(job, 'totalRecordCount');
  if (typeof known !== 'number') return undefined;
  return {
    total: total ?? known,
    completed: count(field(job, 'successRecordCount')),
    failed: count(field(job, 'errorRecordCount')),
  };
}

/** A job that failed as a whole, with what Bedrock says of it: of files and records it speaks only here. */
function failureOf(told: string): BatchFailure {
  const message = told === '' ? 'The job failed without a reason.' : told;
  const willPass = /quota|throttl|capacity|too many|internal (server )?error|try again/i.test(told);
  return {
    code: 'job_failed',
    message,
    meaning: willPass ? 'busy' : 'refused',
    next: willPass ? 'later' : 'fail',
    answer: errorAnswer(400, message),
  };
}
