import { field, type JsonObject } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import type {
  Call,
  Envelope,
  Found,
  Limits,
  Match,
  OrdinaryCall,
  Plan,
  PolledBatch,
  ProviderInfo,
  Remote,
  Route,
  RouteKey,
  Row,
  Usage,
} from '../batcher.ts';
import { FileBatcher } from '../file-batcher.ts';
import type { FlexTier } from '../flex-tier.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, findListed, pollBatches } from '../shared/batch-list.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { pathOf } from '../shared/paths.ts';
import { createdBody, expectOk, isSeen } from '../shared/replies.ts';
import { batchBody, idOf } from '../shared/reply-shapes.ts';
import { matchGemini, ordinaryGemini } from './google-calls.ts';
import { googleFlex } from './google-flex.ts';
import { googleInfo } from './google-info.ts';
import { inlineCreate, mostInline } from './google-inline.ts';
import { judgeCreate, judgeGoogle } from './google-judge.ts';
import { googleNotes } from './google-notes.ts';
import { readPage, toRemote } from './google-operation.ts';
import { betaWire } from './google-paths.ts';
import { inlineRows, readResultLine } from './google-results.ts';
import { uploadFile } from './google-upload.ts';
import { cachedInputOf, usageOf } from './google-usage.ts';
import { webhookConfig } from './webhook-config.ts';

const hour = 3_600_000;
const json = { 'content-type': 'application/json' };

const batchList: BatchList = {
  path: '/batches',
  limit: 'pageSize',
  after: 'pageToken',
  judge: judgeGoogle,
  readPage,
  toRemote,
};

/**
 * The batches of Google's Gemini API: small ones inline, larger ones as an uploaded file.
 *
 * @example
 * class OwnGateway extends GoogleBatcher {
 *   override readonly info = { ...googleInfo, name: 'gateway', hosts: ['gemini.example.com'] };
 * }
 * batchify(fn, { batchers: [OwnGateway] });
 */
export class GoogleBatcher extends FileBatcher {
  readonly info: ProviderInfo = googleInfo;
  override readonly notes: ProviderNotes = googleNotes;
  protected override readonly judge: ReplyJudge = judgeGoogle;

  match(call: Call): Match {
    return matchGemini(call);
  }

  override ordinary(
    call: Pick<Call, 'path' | 'query'>,
    { body }: Pick<Route, 'body'>,
  ): OrdinaryCall {
    return { path: ordinaryGemini(call), body };
  }

  override flex({ endpoint, model }: RouteKey): FlexTier | undefined {
    return endpoint === 'generateContent' ? googleFlex(model) : undefined;
  }

  limits({ model }: RouteKey): Limits {
    return {
      items: 50_000,
      recommendedItems: 10_000,
      // 2 GB by the book; whether that means 10^9 or 2^30 is not said, and some head-room is free.
      bytes: 1_900_000_000,
      itemBytes: 1_900_000_000,
      inFlight: 64,
      windows: { '24h': { word: '24h', priceShare: 0.5 } },
      cachedInput: cachedInputOf(model),
      pollMinimum: 0,
      outlives: 52 * hour,
    };
  }

  envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"key":"${id}","request":`, after: '}' };
  }

  /** Whether the requests of a batch travel in its create. */
  protected isInline({ count, bytes }: Plan): boolean {
    return count <= mostInline.items && bytes <= mostInline.bytes;
  }

  /** The handle says which way a batch goes: one without a file needs its bodies again. */
  override async stage(wire: Wire, plan: Plan): Promise<Handle> {
    return this.isInline(plan) ? { form: 'inline' } : super.stage(betaWire(wire), plan);
  }

  override canCreateFrom(handle: Handle): boolean {
    return handle.file !== undefined;
  }

  protected async upload(wire: Wire, plan: Plan, file: StreamedBody): Promise<Handle> {
    return { file: await uploadFile(wire, plan.token, file) };
  }

  async create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const { endpoint, model } = plan.route;
    const method = endpoint === 'embedContent' ? 'asyncBatchEmbedContent' : 'batchGenerateContent';
    const reply = await betaWire(wire).send({
      method: 'POST',
      path: `/models/${model}:${method}`,
      headers: json,
      body: handle.file === undefined ? inlineCreate(plan) : fileCreate(plan, handle.file),
    });
    const created = await createdBody(wire, reply, judgeCreate);
    const state = field(field(created, 'metadata'), 'state');
    batchBody({ id: field(created, 'name'), state }, 'state');
    return toRemote(created, wire);
  }

  /** A batch is found by its name, which is unique. The order of the list is not documented, so all of it is read. */
  find(wire: Wire, { token }: Pick<Plan, 'token' | 'count'>, _handle: Handle): Promise<Found> {
    const isOurs = (batch: unknown) => field(field(batch, 'metadata'), 'displayName') === token;
    // A create and its twin.
    return findListed(betaWire(wire), batchList, isOurs, { isAll: ({ length }) => length > 1 });
  }

  override async sharesAccount(wire: Wire, { file }: Handle): Promise<boolean | undefined> {
    if (file === undefined) return undefined;
    const request = { method: 'GET', path: pathOf(file) } as const;
    return isSeen(async () => {
      const stored = await (await expectOk(betaWire(wire), request, this.judge)).json();
      return idOf({ id: field(stored, 'name') }, 'a file');
    });
  }

  poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    return pollBatches(betaWire(wire), batchList, batches);
  }

  override async *results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    const api = betaWire(wire);
    yield* super.results(api, remote);
    if (remote.sources.inline === undefined) return;
    const request = { method: 'GET', path: pathOf(`batches/${remote.id}`) } as const;
    const reply = await expectOk(api, request, this.judge);
    yield inlineRows(await reply.text());
  }

  protected resultFiles({ sources }: Remote): readonly string[] {
    return sources.file === undefined ? [] : [`${pathOf(sources.file)}:download?alt=media`];
  }

  protected readLine(line: string): Row {
    return readResultLine(line);
  }

  async cancel(wire: Wire, { id }: Pick<Remote, 'id'>): Promise<void> {
    const path = `${pathOf(`batches/${id}`)}:cancel`;
    const request = { method: 'POST', path, headers: json, body: '{}' } as const;
    const reply = await expectOk(betaWire(wire), request, this.judge);
    await reply.json();
  }

  override async cleanup(wire: Wire, { file }: Handle): Promise<void> {
    if (file === undefined) return;
    const request = { method: 'DELETE', path: pathOf(file) } as const;
    const reply = await expectOk(betaWire(wire), request, this.judge);
    await reply.discard();
  }

  override async placeholder(route: RouteKey, json: JsonObject): Promise<unknown> {
    const { googlePlaceholder } = await import('./google-placeholder.ts');
    return googlePlaceholder(route.endpoint, route.model, json);
  }

  usage(answer: unknown): Usage | undefined {
    return usageOf(answer);
  }

  /** Clients want a code; what batchling itself says has none of Google's. */
  errorBody(type: string, message: string): string {
    return JSON.stringify({ error: { code: null, message, status: type } });
  }
}

function fileCreate(plan: Plan, fileName: string): string {
  const batch = { displayName: plan.token, inputConfig: { fileName }, ...webhookConfig(plan) };
  return JSON.stringify({ batch });
}
