import { field, fields, text } from '../../base/json.ts';
import type { Wire } from '../../http/wire.ts';
import type { PolledBatch, Remote, Row } from '../batcher.ts';
import { type BatchList, findListed, showOne } from '../shared/batch-list.ts';
import { createdBody, expectOk, isGone } from '../shared/replies.ts';
import { resultRows } from '../shared/result-rows.ts';
import type { BatchApi } from './batch-api.ts';
import { inputName, jobName, jobOf, readPage, toRemote } from './bedrock-job.ts';
import { judgeBedrock, judgeCreate, judgeStorage } from './bedrock-judge.ts';
import { controlUrl, filesOf, objectRequest } from './bedrock-places.ts';
import { readRow } from './bedrock-rows.ts';

const json = { 'content-type': 'application/json' };

/** Model invocation jobs, for InvokeModel and Converse. */
export const jobApi: BatchApi = {
  async create(wire, plan, handle) {
    const path = controlUrl(wire.base, '/model-invocation-job');
    const body = JSON.stringify(jobOf(plan, handle));
    const reply = await wire.send({ method: 'POST', path, headers: json, body });
    const created = await createdBody(wire, reply, judgeCreate);
    return toRemote({ ...fields(created), status: 'Submitted' }, wire);
  },

  /** A job is found by its token. Its name is the same, and only saves pages. */
  find(wire, { token, count }) {
    const name = jobName(token);
    const isOurs = (job: unknown) =>
      field(job, 'clientRequestToken') === name || field(job, 'jobName') === name;
    return findListed(wire, jobs(wire, name), isOurs, { count, size: 1_000 });
  },

  async *poll(wire, batches) {
    for (const batch of batches) yield await show(wire, batch);
  },

  async *results(wire, remote): AsyncIterable<readonly Row[]> {
    const files = filesOf(remote.sources);
    if (files === undefined) return;
    const key = `${files.folder}output/${idIn(remote.id)}/${inputName}.out`;
    try {
      const place = objectRequest(files, key);
      const reply = await expectOk(wire, { method: 'GET', ...place }, judgeStorage);
      yield* resultRows(reply, readRow);
    } catch (error) {
      // A job that was cut short may have written nothing.
      const isCut = remote.unfinished !== undefined && (remote.counts?.completed ?? 0) === 0;
      if (!isCut || !isGone(error)) throw error;
    }
  },

  async cancel(wire, id) {
    const path = `${jobUrl(wire, id)}/stop`;
    const request = { method: 'POST', path, headers: json, body: '{}' } as const;
    await (await expectOk(wire, request, judgeBedrock)).json();
  },
};

/** The region of a job, whose id is its ARN; `undefined`: this is the id of no job. */
export function regionInId(id: string): string | undefined {
  return /^arn:[^:]*:bedrock:([^:]+):[^:]*:model-invocation-job\//.exec(id)?.[1];
}

function jobs({ base }: Wire, nameContains: string): BatchList {
  return {
    path: controlUrl(base, '/model-invocation-jobs'),
    limit: 'maxResults',
    after: 'nextToken',
    query: { nameContains, sortBy: 'CreationTime', sortOrder: 'Descending' },
    judge: judgeBedrock,
    readPage,
    toRemote: (job, wire, count) => toRemote(job, wire, count === undefined ? {} : { count }),
  };
}

function show(wire: Wire, { id, count, handle }: PolledBatch): Promise<Remote> {
  return showOne(id, async () => {
    const request = { method: 'GET', path: jobUrl(wire, id) } as const;
    const job = await (await expectOk(wire, request, judgeBedrock)).json();
    return toRemote(job, wire, { count, handle });
  });
}

function jobUrl({ base }: Wire, arn: string): string {
  return controlUrl(base, `/model-invocation-job/${encodeURIComponent(idIn(arn))}`);
}

/** The last part of an ARN, which says as much. */
function idIn(arn: string): string {
  return text(arn.split('/').at(-1)) ?? arn;
}
