import { field, text } from '../../base/json.ts';
import type { Counts, Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { Remote } from '../batcher.ts';
import { ended, failureOf, int64, pageOf, stateOf } from '../google/google-operation.ts';
import { idOf, type ListPage } from '../shared/reply-shapes.ts';
import { judgeVertex } from './vertex-judge.ts';

/** A job is called by its full name: `cancel` and `results` know nothing else of it. */
const fullName = /^projects\/[^/]+\/locations\/[^/]+\/batchPredictionJobs\/[^/]+$/;

function nameOf(job: unknown): string | undefined {
  const name = text(field(job, 'name'));
  return name !== undefined && fullName.test(name) ? name : undefined;
}

/** One page of jobs. */
export function readPage(body: unknown): ListPage {
  return pageOf(body, 'batchPredictionJobs', nameOf);
}

const prefix = /^JOB_STATE_/;

/** A job in our words. `count`: how many requests are in it, where that is known. */
export function toRemote(job: unknown, wire: Pick<Wire, 'redact'>, count?: number): Remote {
  const id = idOf({ id: nameOf(job) }, 'a job');
  const raw = text(field(job, 'state')) ?? 'unknown';
  const status = raw.replace(prefix, '').toLowerCase();
  const isEnded = ended.has(status);
  const counts = countsOf(field(job, 'completionStats'), count);
  const sources = isEnded ? sourcesOf(job) : {};
  const hasOutput = sources.directory !== undefined;
  const hasRun = counts !== undefined && counts.completed + counts.failed > 0;
  // Rows that were written before a job failed are paid for.
  const hasRows = hasOutput && (counts === undefined || hasRun);
  const isFailed = status === 'failed' && !hasRows;
  const isCut = status === 'cancelled' || status === 'expired';
  return {
    id,
    state: isEnded ? 'ended' : stateOf(status),
    raw,
    readable: hasOutput && !isFailed,
    sources,
    ...(counts && { counts }),
    ...(isFailed && { failure: failureOf(field(job, 'error'), wire, judgeVertex, 'job') }),
    // Vertex may name the output a little after the end.
    ...(isEnded && !isFailed && (!isCut || hasRun) && !hasOutput && { incomplete: true }),
    ...(isCut && { unfinished: status }),
  };
}

/** Where the rows are, and the input, by which rows without an id are told apart. */
function sourcesOf(job: unknown): Handle {
  const directory = text(field(field(job, 'outputInfo'), 'gcsOutputDirectory'));
  const uris = field(field(field(job, 'inputConfig'), 'gcsSource'), 'uris');
  const input = Array.isArray(uris) ? text(uris[0]) : undefined;
  return { ...(directory && { directory }), ...(input && { input }) };
}

/** Numbers of 64 bits are texts, zeros are left out, and -1 means that nobody has counted. */
function countsOf(stats: unknown, count: number | undefined): Counts | undefined {
  if (typeof stats !== 'object' || stats === null) return undefined;
  const of = (name: string) => Math.max(0, int64(field(stats, name)));
  const completed = of('successfulCount');
  const failed = of('failedCount');
  return { total: count ?? completed + failed + of('incompleteCount'), completed, failed };
}
