import { describe, expect, it } from 'vitest';
import type { Wire } from '../../http/wire.ts';
import type { Remote, Row } from '../batcher.ts';
import {
  all,
  type BatcherSubject,
  type Bench,
  failureOf,
  idOf,
  openBench,
  planOf,
} from '../conformance/subject.test-helper.ts';
import { VertexBatcher } from './vertex-batcher.ts';
import { labelName } from './vertex-labels.ts';
import { deleteObject, objectsIn, objectUrl, readGsUri } from './vertex-storage.ts';
import { uploadObject } from './vertex-upload.ts';

const place = '/projects/my-project/locations/us-central1';

const subject: BatcherSubject = {
  batcher: new VertexBatcher(),
  path: `${place}/publishers/google/models/gemini-test:generateContent`,
  model: 'gemini-test',
  body: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
  settings: { bucket: 'gs://mine/folder' },
  requests: { create: `/v1${place}/batchPredictionJobs`, results: /predictions/ },
};

const prompts = ['one', 'two', 'three'];
const toId = (prompt: string) => idOf(prompt);

function idsOf(rows: readonly Row[]): unknown[] {
  return rows.map((row) => ('id' in row ? row.id : row)).sort();
}

async function linesAt(wire: Wire, object: { bucket: string; name: string }): Promise<string[]> {
  const reply = await wire.send({ method: 'GET', path: `${objectUrl(wire, object)}?alt=media` });
  return (await reply.text()).trimEnd().split('\n');
}

function write(wire: Wire, object: { bucket: string; name: string }, text: string) {
  return uploadObject(wire, object, { chunks: () => [Buffer.from(text)] });
}

/** Changes what a job has written, as if Vertex had written it so. */
async function rewrite(
  wire: Wire,
  remote: Remote,
  change: (row: Record<string, unknown>) => object,
) {
  const folder = readGsUri(remote.sources.directory);
  const [object] = folder ? await objectsIn(wire, folder) : [];
  if (object === undefined) throw new Error('There are no results');
  const rows = (await linesAt(wire, object)).map((line) =>
    JSON.stringify(change(JSON.parse(line))),
  );
  await write(wire, object, rows.join('\n'));
  return object;
}

async function ended({ send, ended: end }: Bench, asked: readonly string[]) {
  const { plan, handle, remote } = await send(asked);
  return { plan, handle, last: await end(remote, plan, handle) };
}

describe('rows', () => {
  const forgetKey = ({ key: _key, ...row }: Record<string, unknown>) => row;
  /** As a parser and a printer between may leave it: other order, no label of ours. */
  const onlyRequest = (row: Record<string, unknown>) => {
    const { request, ...rest } = forgetKey(row);
    const { labels: _labels, ...others } = request as Record<string, unknown>;
    return { ...rest, request: Object.fromEntries(Object.entries(others).reverse()) };
  };

  it('with a key, a label or the request alone are known', async () => {
    for (const change of [(row: object) => row, forgetKey, onlyRequest]) {
      const bench = await openBench(subject);
      const { last } = await ended(bench, prompts);
      await rewrite(bench.wire, last, change);
      // Without the input nothing but the label is left to know a row by.
      const input = readGsUri(last.sources.input);
      if (change === forgetKey && input) await deleteObject(bench.wire, input);
      const rows = await bench.rows(last);
      expect(idsOf(rows)).toEqual(prompts.map(toId).sort());
      for (const row of rows) {
        if (!('id' in row) || row.outcome.kind !== 'answer') throw new Error('no answer');
        const asked = prompts.find((prompt) => idOf(prompt) === row.id);
        expect(row.outcome.answer.body).toContain(`answer to \\"${asked}\\"`);
      }
    }
  });

  /** A job of one request, sent twice. */
  async function twins(bench: Bench) {
    const once = planOf(subject, ['same']);
    const [item] = await firstGroup(once.items());
    if (item === undefined) throw new Error('no item');
    const ids = [idOf('same', 1), idOf('same', 2)];
    const items = ids.map((id) => ({ ...item, id, ...bench.batcher.envelope(once.route, id) }));
    const plan = {
      ...once,
      count: 2,
      items: async function* () {
        yield items;
      },
    };
    const handle = await bench.batcher.stage(bench.wire, plan);
    const remote = await bench.batcher.create(bench.wire, plan, handle);
    return { ids: [...ids].sort(), last: await bench.ended(remote, plan, handle) };
  }

  it('of identical requests without an id take one id each', async () => {
    const bench = await openBench(subject);
    const { ids, last } = await twins(bench);
    await rewrite(bench.wire, last, onlyRequest);
    expect(idsOf(await bench.rows(last))).toEqual(ids);
  });

  it.each([0, 1])('of identical requests share no id if row %i alone has none', async (at) => {
    for (const named of [0, 1]) {
      const bench = await openBench(subject);
      const { ids, last } = await twins(bench);
      let row = 0;
      await rewrite(bench.wire, last, (written) => {
        const key = ids[named];
        return row++ === at ? onlyRequest(written) : { ...onlyRequest(written), key };
      });
      expect(idsOf(await bench.rows(last))).toEqual(ids);
    }
  });

  it('that are doubled stay doubled, beside an identical one without an id', async () => {
    const bench = await openBench(subject);
    const { ids, last } = await twins(bench);
    const [first = ''] = ids;
    const object = await rewrite(bench.wire, last, (row) => ({ ...onlyRequest(row), key: first }));
    const lines = await linesAt(bench.wire, object);
    const { key: _key, ...unnamed } = JSON.parse(lines[0] as string);
    await write(bench.wire, object, [JSON.stringify(unnamed), ...lines].join('\n'));
    expect(idsOf(await bench.rows(last))).toEqual([...ids, first].sort());
  });

  it('are read in a folder whose name has words of Vertex in it', async () => {
    const settings = { bucket: 'gs://mine/incremental_predictions' };
    const bench = await openBench({ ...subject, settings });
    const plan = { ...planOf(subject, prompts), settings };
    const handle = await bench.batcher.stage(bench.wire, plan);
    const remote = await bench.batcher.create(bench.wire, plan, handle);
    const last = await bench.ended(remote, plan, handle);
    const folder = readGsUri(last.sources.directory);
    if (folder === undefined) throw new Error('no folder');
    await write(bench.wire, { ...folder, name: `${folder.name}/manifest.json` }, '{}');
    expect(idsOf(await bench.rows(last))).toEqual(prompts.map(toId).sort());
  });

  it('whose request was never sent are broken, never guessed by their place', async () => {
    const bench = await openBench(subject);
    const { last } = await ended(bench, prompts);
    await rewrite(bench.wire, last, (row) => ({ ...forgetKey(row), request: { contents: ['x'] } }));
    const rows = await bench.rows(last);
    expect(rows.filter((row) => 'broken' in row)).toHaveLength(prompts.length);
    expect(rows.filter((row) => 'id' in row)).toEqual([]);
  });

  it('in several files, on several pages of a list, are all read', async () => {
    const bench = await openBench(subject);
    const { last } = await ended(bench, prompts);
    const folder = readGsUri(last.sources.directory);
    if (folder === undefined) throw new Error('no folder');
    const other = (name: string) => ({ bucket: folder.bucket, name: `${folder.name}/${name}` });
    const row = (id: string) => JSON.stringify({ key: id, status: 'Bad Request: no', request: {} });
    await write(bench.wire, other('predictions_0002.jsonl'), row('second'));
    await write(bench.wire, other('errors_0001.jsonl'), row('third'));
    await write(bench.wire, other('errors_0002.jsonl'), '');
    await write(bench.wire, other('incremental_predictions.jsonl'), row('unread'));
    const expected = [...prompts.map(toId), 'second', 'third'].sort();
    const pages: string[] = [];
    const paged: Wire = {
      ...bench.wire,
      send: (request) => {
        if (!request.path.includes('?prefix=')) return bench.wire.send(request);
        pages.push(request.path);
        return bench.wire.send({ ...request, path: `${request.path}&maxResults=2` });
      },
    };
    const rows = (await all(bench.batcher.results(paged, last))).flat();
    expect(idsOf(rows)).toEqual(expected);
    expect(pages).toHaveLength(3);
  });
});

async function firstGroup<Value>(groups: AsyncIterable<readonly Value[]>) {
  for await (const group of groups) return group;
  return [];
}

describe('a job', () => {
  /** Puts other files in the place of what a job has written. */
  async function replaceOutput({ wire }: Bench, last: Remote, files: Record<string, string>) {
    const folder = readGsUri(last.sources.directory);
    if (folder === undefined) throw new Error('no folder');
    for (const object of await objectsIn(wire, folder)) await deleteObject(wire, object);
    for (const [name, text] of Object.entries(files)) {
      await write(wire, { bucket: folder.bucket, name: `${folder.name}/${name}` }, text);
    }
  }

  it('that has written errors alone is read', async () => {
    const bench = await openBench(subject, { nullRequestCounts: true });
    const { last } = await ended(bench, ['one']);
    const row = { key: idOf('one'), status: 'Bad Request: no', request: {} };
    await replaceOutput(bench, last, { 'errors_0001.jsonl': JSON.stringify(row) });
    expect(await bench.rows(last)).toMatchObject([
      { id: idOf('one'), outcome: { answer: { status: 400 } } },
    ]);
  });

  it('that has rows only where they are collected while it runs is read there', async () => {
    const bench = await openBench(subject);
    const { last } = await ended(bench, prompts);
    const object = await rewrite(bench.wire, last, (row) => row);
    const text = (await linesAt(bench.wire, object)).join('\n');
    await replaceOutput(bench, last, { 'incremental_predictions/0001.jsonl': text });
    expect(idsOf(await bench.rows(last))).toEqual(prompts.map(toId).sort());
  });

  it('that has answered requests is not believed to have written errors alone', async () => {
    const bench = await openBench(subject);
    const { last } = await ended(bench, prompts);
    const row = { key: idOf('one'), status: 'Bad Request: no', request: {} };
    await replaceOutput(bench, last, { 'errors_0001.jsonl': JSON.stringify(row) });
    expect(await failureOf(bench.rows(last))).toMatchObject({ failure: { meaning: 'gone' } });
  });

  it('that failed before it has written anything says why, wherever it would have written', async () => {
    const bench = await openBench(subject, { nullRequestCounts: true });
    bench.simulator.faults.nextBatch({ finalStatus: 'JOB_STATE_FAILED' });
    const { plan, handle, last } = await ended(bench, prompts);
    expect(last).toMatchObject({ readable: true });
    for (const files of [{}, { 'predictions.jsonl': '' }]) {
      await replaceOutput(bench, last, files);
      const seen = await bench.ended(last, plan, handle);
      expect(seen).toMatchObject({ readable: false, failure: { next: 'fail' } });
    }
  });

  it('that failed after it has written rows is read, because they are paid for', async () => {
    const bench = await openBench(subject);
    bench.simulator.faults.nextBatch({ finalStatus: 'JOB_STATE_FAILED' });
    const { last } = await ended(bench, prompts);
    expect(last).toMatchObject({ raw: 'JOB_STATE_FAILED', readable: true });
    expect(last.failure).toBeUndefined();
    expect(idsOf(await bench.rows(last))).toEqual(prompts.map(toId).sort());
  });

  it('that expired before anything ran has no rows, and says so', async () => {
    const bench = await openBench(subject);
    bench.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0 });
    const { last } = await ended(bench, prompts);
    expect(last).toMatchObject({ unfinished: 'expired' });
    expect(await bench.rows(last)).toEqual([]);
  });

  it('is found by its name alone, in its project and location', async () => {
    const { batcher, wire, simulator, send } = await openBench(subject, { foreignBatches: true });
    const { plan, handle, remote } = await send(['ours']);
    const twin = await batcher.create(wire, plan, handle);
    const both = { kind: 'exact', remotes: [{ id: twin.id }, { id: remote.id }] };
    expect(await batcher.find(wire, plan, handle)).toMatchObject(both);
    // Where nothing is filtered, jobs of others are shown, too.
    const unfiltered: Wire = {
      ...wire,
      send: (request) => wire.send({ ...request, path: request.path.replace(/filter=[^&]*/, '') }),
    };
    expect(await batcher.find(unfiltered, plan, handle)).toMatchObject(both);
    const elsewhere = { ...handle, parent: '/projects/my-project/locations/europe-west4' };
    expect(await batcher.find(wire, plan, elsewhere)).toEqual({ kind: 'absent' });
    const query = simulator.requests.findLast(({ method }) => method === 'GET')?.query ?? '';
    expect(new URLSearchParams(query).get('filter')).toBe(`display_name="${plan.token}"`);
  });

  it('carries the tags of its run in letters of labels', async () => {
    const { batcher, wire } = await openBench(subject);
    const plan = { ...planOf(subject, ['a']), tags: { name: 'Nightly Run!', Team: 'ä' } };
    const remote = await batcher.create(wire, plan, await batcher.stage(wire, plan));
    const reply = await wire.send({ method: 'GET', path: `/${remote.id}` });
    expect(await reply.json()).toMatchObject({
      labels: { 'batchling-name': 'nightly_run_', 'batchling-team': '_' },
    });
  });

  it('of which a service agent is still missing is created later', async () => {
    const { batcher, wire, strike } = await openBench(subject);
    const plan = planOf(subject, ['a']);
    const handle = await batcher.stage(wire, plan);
    const message = 'Service agents are being provisioned. Please try again in a few minutes.';
    strike('create', { kind: 'status', status: 400, body: { error: { code: 400, message } } });
    expect(await failureOf(batcher.create(wire, plan, handle))).toMatchObject({
      failure: { meaning: 'busy', next: 'later', within: 600_000 },
    });
  });
});

describe('the input', () => {
  it('holds every request with its key and its label, as one object', async () => {
    const { batcher, wire } = await openBench(subject);
    const plan = planOf(subject, prompts);
    const { folder } = await batcher.stage(wire, plan);
    expect(folder).toBe(`gs://mine/folder/batchling/${plan.token}`);
    const input = readGsUri(`${folder}/input.jsonl`);
    const lines = input ? await linesAt(wire, input) : [];
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(
      prompts.map((prompt) => ({
        key: idOf(prompt),
        request: { ...subject.body(prompt), labels: { [labelName]: expect.any(String) } },
      })),
    );
  });

  it('in a bucket that is not there is refused with the reason', async () => {
    const { batcher, wire } = await openBench(subject);
    const plan = { ...planOf(subject, ['a']), settings: { bucket: 'gs://missing-bucket' } };
    expect(await failureOf(batcher.stage(wire, plan))).toMatchObject({
      failure: { meaning: 'refused', next: 'fail', message: expect.stringContaining('bucket') },
    });
  });

  it('and the output are deleted, and nothing else', async () => {
    const bench = await openBench(subject);
    const { handle, plan } = await ended(bench, prompts);
    const folder = readGsUri(handle.folder);
    if (folder === undefined) throw new Error('no folder');
    const beside = { bucket: 'mine', name: `${folder.name}-of-somebody-else/input.jsonl` };
    await write(bench.wire, beside, 'x');
    const other = await bench.batcher.stage(bench.wire, planOf(subject, ['other']));
    await bench.batcher.cleanup(bench.wire, handle);
    expect(await objectsIn(bench.wire, folder)).toEqual([]);
    expect(await linesAt(bench.wire, beside)).toEqual(['x']);
    expect(await bench.batcher.sharesAccount(bench.wire, other)).toBe(true);
    expect(await bench.batcher.sharesAccount(bench.wire, handle)).toBe(false);
    // Twice does no harm.
    await bench.batcher.cleanup(bench.wire, handle);
    expect(plan.count).toBe(prompts.length);
  });

  it('is deleted although another object cannot be', async () => {
    const bench = await openBench(subject);
    const { handle } = await ended(bench, prompts);
    const folder = readGsUri(handle.folder);
    if (folder === undefined) throw new Error('no folder');
    const path = /input\.jsonl$/;
    const action = { kind: 'status', status: 403 } as const;
    bench.simulator.faults.add({ method: 'DELETE', path, action });
    expect(await failureOf(bench.batcher.cleanup(bench.wire, handle))).toMatchObject({
      status: 403,
    });
    const names = (await objectsIn(bench.wire, folder)).map(({ name }) => name);
    expect(names).toEqual([expect.stringMatching(path)]);
  });

  it('is seen with a newer token of the same project', async () => {
    const { batcher, wireWith } = await openBench(subject);
    const handle = await batcher.stage(wireWith('ya29.first@p'), planOf(subject, ['a']));
    expect(await batcher.sharesAccount(wireWith('ya29.second@p'), handle)).toBe(true);
    expect(await batcher.sharesAccount(wireWith('ya29.third@q'), handle)).toBe(false);
  });
});

describe('the credential', () => {
  const origins = (base: string) => new VertexBatcher().origins(base);

  it.each([
    'https://us-central1-aiplatform.googleapis.com/v1',
    'https://aiplatform.googleapis.com/v1beta1',
    'https://aiplatform.eu.rep.googleapis.com/v1',
  ])('of %s goes to the storage of Google, too', (base) => {
    expect(origins(base)).toEqual([new URL(base).origin, 'https://storage.googleapis.com']);
  });

  it.each(['https://gateway.example/vertex/v1', 'https://evilgoogleapis.com/v1'])(
    'of %s stays there',
    (base) => expect(origins(base)).toEqual([new URL(base).origin]),
  );
});
