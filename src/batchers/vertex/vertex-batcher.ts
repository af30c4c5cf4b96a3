import { BatchlingError } from '../../base/errors.ts';
import { field, fields, type JsonObject } from '../../base/json.ts';
import type { Dict, Handle, ItemId } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import { claudeUsage } from '../anthropic/anthropic-usage.ts';
import { cacheWrites } from '../anthropic/cache-writes.ts';
import type {
  Call,
  Envelope,
  Expectation,
  Found,
  Limits,
  Match,
  Plan,
  PolledBatch,
  ProviderInfo,
  Remote,
  Route,
  RouteKey,
  Row,
  Usage,
} from '../batcher.ts';
import type { FlexTier } from '../flex-tier.ts';
import { GoogleBatcher } from '../google/google-batcher.ts';
import { usageOf } from '../google/google-usage.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, findListed, showOne } from '../shared/batch-list.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { pathOf } from '../shared/paths.ts';
import { createdBody, deleteEach, expectOk, isVisible } from '../shared/replies.ts';
import { batchBody } from '../shared/reply-shapes.ts';
import { bucketAdvice, matchVertex, placeOf } from './vertex-calls.ts';
import { vertexFlex } from './vertex-flex.ts';
import { vertexInfo } from './vertex-info.ts';
import { readPage, toRemote } from './vertex-job.ts';
import { judgeCreate, judgeVertex } from './vertex-judge.ts';
import { labelBytes } from './vertex-labels.ts';
import { jobLabels, linesOf } from './vertex-lines.ts';
import { vertexNotes } from './vertex-notes.ts';
import { hasRows, rowsOf } from './vertex-results.ts';
import { deleteObject, objectsIn, objectUrl, readGsUri, storageOf } from './vertex-storage.ts';
import { uploadObject } from './vertex-upload.ts';

const hour = 3_600_000;
const json = { 'content-type': 'application/json' };

/**
 * Batch prediction jobs of Vertex AI, of Gemini and of Claude: the requests are an object in a bucket of the
 * user's, and so are the answers.
 *
 * @example
 * class OwnGateway extends VertexBatcher {
 *   override readonly info = { ...vertexInfo, name: 'gateway', hosts: ['vertex.example.com'] };
 * }
 * batchify(fn, { batchers: [OwnGateway], providers: { gateway: { bucket: 'gs://mine' } } });
 */
export class VertexBatcher extends GoogleBatcher {
  override readonly info: ProviderInfo = vertexInfo;
  override readonly notes: ProviderNotes = vertexNotes;
  protected override readonly judge: ReplyJudge = judgeVertex;

  override match(call: Call): Match {
    return matchVertex(call);
  }

  /** The other locations ignore what asks for the tier. */
  override flex({ endpoint }: RouteKey): FlexTier | undefined {
    const { parent, publisher } = placeOf(endpoint);
    return publisher === 'google' && parent.endsWith('/locations/global') ? vertexFlex : undefined;
  }

  override limits({ endpoint }: RouteKey): Limits {
    const isClaude = placeOf(endpoint).publisher === 'anthropic';
    return {
      items: isClaude ? 100_000 : 200_000,
      recommendedItems: 10_000,
      // 1 GB by the book; whether that means 10^9 or 2^30 is not said, and some head-room is free.
      bytes: 950_000_000,
      itemBytes: 950_000_000,
      inFlight: isClaude ? 4 : 8,
      windows: { '24h': { word: '24h', priceShare: 0.5 } },
      // Gemini has two discounts, and the one for a cache hit wins. Those of Claude add up.
      cachedInput: isClaude ? 'discounted' : 'undiscounted',
      pollMinimum: 0,
      // 72 hours in a queue, 24 hours of running.
      outlives: 100 * hour,
    };
  }

  override envelope({ endpoint }: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    const isClaude = placeOf(endpoint).publisher === 'anthropic';
    return { before: `{"${isClaude ? 'custom_id' : 'key'}":"${id}","request":`, after: '}' };
  }

  /** A line break and a label per item. */
  override frameBytes(count: number): number {
    return count * (1 + labelBytes);
  }

  /** The storage of Google sees the credential, too, where the base is Google's. */
  override origins(base: string): readonly string[] {
    return [...new Set([new URL(base).origin, new URL(storageOf(base)).origin])];
  }

  override canCreateFrom(handle: Handle): boolean {
    return handle.folder !== undefined;
  }

  /** Uploads the input. Its name is the batch's own, so a second upload replaces the first. */
  override async stage(wire: Wire, plan: Plan): Promise<Handle> {
    const { parent, publisher } = placeOf(plan.route.endpoint);
    // The batch is of an earlier run, which had a bucket.
    if (plan.settings.bucket === undefined) {
      throw new BatchlingError('INVALID_OPTION', bucketAdvice);
    }
    const folder = `${plan.settings.bucket}/batchling/${plan.token}`;
    const input = readGsUri(`${folder}/input.jsonl`);
    if (input === undefined) throw new TypeError(`providers.vertex.bucket is missing.`);
    await uploadObject(wire, input, { chunks: () => linesOf(plan, publisher === 'google') });
    return { folder, parent };
  }

  override async create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const path = `${handle.parent}/batchPredictionJobs`;
    const body = JSON.stringify(jobOf(plan, handle.folder ?? ''));
    const reply = await wire.send({ method: 'POST', path, headers: json, body });
    const created = await createdBody(wire, reply, judgeCreate);
    batchBody({ id: field(created, 'name'), state: field(created, 'state') }, 'state');
    return toRemote(created, wire, plan.count);
  }

  /** A job is found by its name, which is unique. The filter only saves pages: every job shown is compared. */
  override find(
    wire: Wire,
    { token, count }: Pick<Plan, 'token' | 'count'>,
    handle: Handle,
  ): Promise<Found> {
    const isOurs = (job: unknown) => field(job, 'displayName') === token;
    return findListed(wire, this.#jobs(handle, token), isOurs, { count });
  }

  #jobs({ parent }: Handle, token: string): BatchList {
    return {
      path: `${parent}/batchPredictionJobs`,
      limit: 'pageSize',
      after: 'pageToken',
      query: { filter: `display_name="${token}"` },
      judge: this.judge,
      readPage,
      toRemote,
    };
  }

  /** Tokens change every hour and name no account. A token that sees the input is of the same one. */
  override async sharesAccount(wire: Wire, { folder }: Handle): Promise<boolean | undefined> {
    const input = readGsUri(folder && `${folder}/input.jsonl`);
    return input === undefined ? undefined : isVisible(wire, objectUrl(wire, input));
  }

  override async *poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    for (const { id, count } of batches) yield await this.#show(wire, id, count);
  }

  #show(wire: Wire, id: string, count: number): Promise<Remote> {
    return showOne(id, async () => {
      const reply = await expectOk(wire, { method: 'GET', path: pathOf(id) }, this.judge);
      const job = await reply.json();
      return this.#withReason(wire, job, toRemote(job, wire, count));
    });
  }

  /** A job that failed and has counted nothing may name a folder that it has never written to. */
  async #withReason(wire: Wire, job: unknown, remote: Remote): Promise<Remote> {
    const { raw, readable, counts } = remote;
    const isDoubtful = raw === 'JOB_STATE_FAILED' && readable && counts === undefined;
    if (!isDoubtful || (await hasRows(wire, remote))) return remote;
    return toRemote({ ...fields(job), outputInfo: undefined }, wire);
  }

  override results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    return rowsOf(wire, remote);
  }

  override async cancel(wire: Wire, { id }: Pick<Remote, 'id'>): Promise<void> {
    const path = `${pathOf(id)}:cancel`;
    const request = { method: 'POST', path, headers: json, body: '{}' } as const;
    await (await expectOk(wire, request, this.judge)).json();
  }

  /** Input and output: all that is in the folder of this batch, which has the batch's own name. */
  override async cleanup(wire: Wire, handle: Handle): Promise<void> {
    const folder = readGsUri(handle.folder);
    if (folder === undefined) return;
    await deleteEach(await objectsIn(wire, folder), (object) => deleteObject(wire, object));
  }

  override async placeholder(route: RouteKey, json: JsonObject): Promise<unknown> {
    if (placeOf(route.endpoint).publisher !== 'anthropic') return super.placeholder(route, json);
    const { anthropicPlaceholder } = await import('../anthropic/anthropic-placeholder.ts');
    return anthropicPlaceholder(route.model, json);
  }

  override expects(route: Pick<Route, 'endpoint' | 'body'>, json: JsonObject): Expectation {
    const expectation = super.expects(route, json);
    const isClaude = placeOf(route.endpoint).publisher === 'anthropic';
    return isClaude ? { ...expectation, ...cacheWrites(route, json) } : expectation;
  }

  override usage(answer: unknown): Usage | undefined {
    return usageOf(answer) ?? claudeUsage(answer);
  }

  /** Clients of Gemini and of Claude each find what they look for. */
  override errorBody(type: string, message: string): string {
    return JSON.stringify({ type: 'error', error: { code: null, message, status: type, type } });
  }
}

function jobOf({ token, route, tags }: Plan, folder: string): object {
  const { publisher } = placeOf(route.endpoint);
  const labels: Dict = jobLabels(tags);
  return {
    displayName: token,
    model: `publishers/${publisher}/models/${route.model}`,
    inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: [`${folder}/input.jsonl`] } },
    outputConfig: {
      predictionsFormat: 'jsonl',
      gcsDestination: { outputUriPrefix: `${folder}/output` },
    },
    ...(Object.keys(labels).length > 0 && { labels }),
  };
}
