import { field } from '../../base/json.ts';
import type { Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { Remote, Row } from '../batcher.ts';
import { toRemote as readBatch } from '../openai/openai-remote.ts';
import { readResultLine } from '../openai/openai-results.ts';
import { type BatchList, findListed, pollBatches } from '../shared/batch-list.ts';
import { createdBody, expectOk, isGone } from '../shared/replies.ts';
import { batchBody } from '../shared/reply-shapes.ts';
import { resultRows } from '../shared/result-rows.ts';
import type { BatchApi } from './batch-api.ts';
import { bedrockInfo } from './bedrock-info.ts';
import { inputName } from './bedrock-job.ts';
import { judgeBedrock, judgeCreate, judgeStorage } from './bedrock-judge.ts';
import { filesOf, objectRequest } from './bedrock-places.ts';

const path = '/openai/v1/batches';

/** Bedrock's batches in OpenAI's words. It has no files of its own: input and results are objects of the bucket. */
export const openaiApi: BatchApi = {
  async create(wire, { route, tags, token, completionWindow }, handle) {
    const body = JSON.stringify({
      input_file_id: inputUri(handle),
      endpoint: route.endpoint,
      completion_window: completionWindow,
      metadata: { ...tags, batchling: token },
    });
    const headers = {
      'content-type': 'application/json',
      'x-amzn-bedrock-rolearn': handle.roleArn ?? '',
      'x-amzn-bedrock-modelid': route.model,
    };
    const reply = await wire.send({ method: 'POST', path, headers, body });
    const created = batchBody(await createdBody(wire, reply, judgeCreate), 'status');
    return toRemote(created, wire, () => handle);
  },

  /** The name of the input is the batch's own. */
  find(wire, { token }, handle) {
    const isOurs = (batch: unknown) =>
      field(batch, 'input_file_id') === inputUri(handle) ||
      field(field(batch, 'metadata'), 'batchling') === token;
    return findListed(
      wire,
      listOf(() => handle),
      isOurs,
      {
        // A twin is on the same page or the next.
        isAll: (found, onPage) => found.length > 0 && onPage.length === 0,
      },
    );
  },

  poll(wire, batches) {
    const handles = new Map(batches.map(({ id, handle }) => [id, handle]));
    return pollBatches(
      wire,
      listOf((id) => handles.get(id)),
      batches,
    );
  },

  /** Answers and errors are two objects. One that would be empty may not be there. */
  async *results(wire, { id, sources, counts, unfinished }): AsyncIterable<readonly Row[]> {
    const files = filesOf(sources);
    // The id becomes a part of a path.
    if (files === undefined || !/^[\w.:-]+$/.test(id) || /^\.+$/.test(id)) return;
    const parts = [
      { ending: 'out', rows: counts?.completed },
      { ending: 'err', rows: counts?.failed },
    ];
    let gone: unknown;
    let isAnyThere = false;
    for (const { ending, rows = 0 } of parts) {
      const place = objectRequest(files, `${files.folder}${id}/${inputName}.${ending}`);
      try {
        const reply = await expectOk(wire, { method: 'GET', ...place }, judgeStorage);
        isAnyThere = true;
        yield* resultRows(reply, readLine);
      } catch (error) {
        if (!isGone(error) || rows > 0) throw error;
        gone = error;
      }
    }
    if (!isAnyThere && unfinished === undefined) throw gone;
  },

  async cancel(wire, id) {
    const request = { method: 'POST', path: `${path}/${encodeURIComponent(id)}/cancel` } as const;
    batchBody(await (await expectOk(wire, request, judgeBedrock)).json(), 'status');
  },
};

function inputUri({ folder }: Handle): string {
  return `${folder}${inputName}`;
}

/** What is remembered of the batch with this id. */
type HandleById = (id: string) => Handle | undefined;

function listOf(handleOf: HandleById): BatchList {
  return {
    path,
    after: 'after',
    judge: judgeBedrock,
    toRemote: (batch, wire) => toRemote(batch, wire, handleOf),
  };
}

/** The results are beside the input, whatever the batch says of files. */
function toRemote(batch: unknown, wire: Pick<Wire, 'redact'>, handleOf: HandleById): Remote {
  const { incomplete: _incomplete, failure, ...remote } = readBatch(batch, wire);
  const { id, counts } = remote;
  // Rows that were written before a batch failed are paid for.
  const hasRun = counts !== undefined && counts.completed + counts.failed > 0;
  return {
    ...remote,
    sources: handleOf(id) ?? {},
    ...(failure && !hasRun && { failure }),
  };
}

function readLine(line: string): Row {
  return readResultLine(line, bedrockInfo.requestIdHeader);
}
