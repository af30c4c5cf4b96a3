import { field, type JsonObject } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import { multipart } from '../../http/multipart.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import type { StreamDialect } from '../../streams/stream-dialect.ts';
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
import { FileBatcher } from '../file-batcher.ts';
import type { FlexTier } from '../flex-tier.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, batchPages, pollBatches } from '../shared/batch-list.ts';
import { onOneLine } from '../shared/json-text.ts';
import { judgePlace, type ReplyJudge } from '../shared/judge-reply.ts';
import { createdAt, ListOrder } from '../shared/list-order.ts';
import { isLeftOut, ownTier, tierBypass } from '../shared/own-tier.ts';
import { createdBody, expectDone, expectOk, isVisible } from '../shared/replies.ts';
import { batchBody, idOf } from '../shared/reply-shapes.ts';
import { isUrl } from '../shared/result-reply.ts';
import { lineBody, noModel, noStream, openaiDialect } from './openai-calls.ts';
import { embeddingInputs, mostEmbeddingInputs } from './openai-embeddings.ts';
import { openaiFlex } from './openai-flex.ts';
import { openaiInfo } from './openai-info.ts';
import { judgeCreate, judgeOpenAI } from './openai-judge.ts';
import { openaiNotes } from './openai-notes.ts';
import { type StatusWords, toRemote } from './openai-remote.ts';
import { readResultLine } from './openai-results.ts';
import { cachedInputOf, cacheWrites, openaiUsage } from './openai-usage.ts';

const hour = 3_600_000;
type FormFields = Parameters<typeof multipart>[0];

/** OpenAI, and the pattern of every service that copies its files and batches. */
export class OpenAIBatcher extends FileBatcher {
  readonly info: ProviderInfo = openaiInfo;
  override readonly notes: ProviderNotes = openaiNotes;

  /** Where files are, below the base. */
  protected readonly filesPath: string = '/files';
  /** Where batches are created and listed. */
  protected readonly batchesPath: string = '/batches';
  /** What the form of an upload calls the file. */
  protected readonly fileType: string = 'application/jsonl';
  /** What a provider's words for the states of a batch are at OpenAI. */
  protected readonly statuses: StatusWords = {};
  /** The limits that are not OpenAI's. */
  protected readonly ownLimits: Partial<Limits> = {};
  protected override readonly judge: ReplyJudge = judgeOpenAI;

  protected get batchList(): BatchList {
    return {
      path: this.batchesPath,
      after: 'after',
      judge: this.judge,
      toRemote: (batch, wire, count) => this.toRemote(batch, wire, count),
    };
  }

  /** The provider's batch object in our words. `count`: its requests, where that is known. */
  protected toRemote(batch: unknown, wire: Pick<Wire, 'redact'>, _count?: number): Remote {
    return toRemote(batch, wire, this.statuses);
  }

  match(call: Call): Match {
    const { model, stream, background } = call.json;
    if (typeof model !== 'string') return { bypass: noModel };
    if (background === true) return { bypass: 'background responses are asynchronous already' };
    const dialect = stream === true ? this.dialect(call) : undefined;
    if (stream === true && !dialect) return { bypass: noStream(call.path) };
    const endpoint = this.endpointOf(call);
    const hasTiers = this.flex({ endpoint, model }) !== undefined;
    const tier = hasTiers ? ownTier(call, call.json.service_tier) : undefined;
    const chosen = tierBypass(tier);
    if (chosen !== undefined) return { bypass: chosen };
    const beta = call.headers['openai-beta'];
    const identity = beta ? [`openai-beta: ${beta}`] : [];
    if (call.query !== '') identity.push(call.query);
    const line = onOneLine(call.body);
    const units = call.path === '/embeddings' ? embeddingInputs(call.json) : 1;
    return {
      endpoint,
      model,
      batchHeaders: {},
      identity,
      body: lineBody(line, 'stream' in call.json, isLeftOut(call, tier)),
      ...(units !== 1 && { units }),
      ...(dialect && { stream: dialect }),
    };
  }

  /** The endpoint of this call as it stands in lines and creates, which is not always its path online. */
  protected endpointOf({ path }: Call): string {
    return `/v1${path}`;
  }

  /** How a streamed answer to this call is told; `undefined` where there is none. */
  protected dialect(call: Call): StreamDialect | undefined {
    return openaiDialect(call);
  }

  limits({ endpoint, model }: RouteKey): Limits {
    return {
      items: 50_000,
      ...(endpoint === '/v1/embeddings' && { units: mostEmbeddingInputs }),
      recommendedItems: 10_000,
      // 200 MB by the book; whether that means 10^6 or 2^20 is not said, and some head-room is free.
      bytes: 190_000_000,
      itemBytes: 190_000_000,
      inFlight: 64,
      windows: { '24h': { word: '24h', priceShare: 0.5 } },
      cachedInput: cachedInputOf(model),
      pollMinimum: 0,
      outlives: 28 * hour,
      ...this.ownLimits,
    };
  }

  envelope(route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return {
      before: `{"custom_id":"${id}","method":"POST","url":"${route.endpoint}","body":`,
      after: '}',
    };
  }

  protected async upload(wire: Wire, plan: Plan, file: StreamedBody): Promise<Handle> {
    const { contentType, body } = multipart(this.uploadFields(plan, wire), {
      field: 'file',
      filename: this.fileName(plan),
      contentType: this.fileType,
      body: file,
    });
    const headers = { 'content-type': contentType };
    const request = { method: 'POST', path: this.filesPath, headers, body } as const;
    const reply = await expectOk(wire, request, judgePlace(this.judge));
    const stored = this.storedFile(await reply.json());
    const uploadedAt = createdAt(stored);
    return {
      fileId: idOf(stored, 'a file'),
      ...(uploadedAt !== undefined && { uploadedAt: String(uploadedAt) }),
    };
  }

  /** What an uploaded file is called. */
  protected fileName({ token }: Pick<Plan, 'token'>): string {
    return `${token}.jsonl`;
  }

  /** What the form of an upload says beside the file. */
  protected uploadFields(_plan: Plan, _wire: Pick<Wire, 'base'>): FormFields {
    return [['purpose', 'batch']];
  }

  /** The file in the answer to an upload. */
  protected storedFile(body: unknown): unknown {
    return body;
  }

  async create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const reply = await wire.send({
      method: 'POST',
      path: this.batchesPath,
      headers: { 'content-type': 'application/json', ...plan.route.batchHeaders },
      body: this.createContent(plan, handle),
    });
    const body = await createdBody(wire, reply, judgePlace(judgeCreate(this.judge)));
    return this.toRemote(batchBody(this.createdBatch(body, wire), 'status'), wire, plan.count);
  }

  /** The batch in the answer to a create. */
  protected createdBatch(body: unknown, _wire: Pick<Wire, 'redact'>): unknown {
    return body;
  }

  /** The bytes of a create. Requests that travel in it are streamed, so that they are never held at once. */
  protected createContent(plan: Plan, handle: Handle): string | StreamedBody {
    return JSON.stringify(this.createBody(plan, handle));
  }

  /** What a create says. It names the file, by which the batch is found again. */
  protected createBody(plan: Plan, handle: Handle): object {
    return {
      input_file_id: handle.fileId,
      endpoint: plan.route.endpoint,
      completion_window: plan.completionWindow,
      metadata: { ...plan.tags, batchling: plan.token },
    };
  }

  /**
   * One fresh upload per batch: what has our file is ours. A twin is on the same page or the next. What is
   * older than the file cannot be ours, by the provider's own clock.
   */
  async find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found> {
    // A map by id: where pages have numbers, a new batch pushes an older one to the next page, where it is seen again.
    const remotes = new Map<string, Remote>();
    const order = new ListOrder();
    const since = handle.uploadedAt === undefined ? undefined : Number(handle.uploadedAt);
    for await (const page of batchPages(wire, this.listToFind(plan))) {
      order.read(page);
      const ours = page.filter((batch) => this.isOurs(batch, plan, handle));
      if (remotes.size > 0 && ours.length === 0) break;
      for (const batch of ours) {
        const remote = this.toRemote(batch, wire);
        remotes.set(remote.id, remote);
      }
      if (order.isPast(since)) break;
    }
    if (remotes.size === 0) return { kind: 'absent' };
    return { kind: 'exact', remotes: [...remotes.values()] };
  }

  /** The list in which a batch is looked for after an unknown outcome. */
  protected listToFind(_plan: Pick<Plan, 'token'>): BatchList {
    return this.batchList;
  }

  /** Whether a listed batch is the one that was created with this handle. */
  protected isOurs(batch: unknown, _plan: Pick<Plan, 'token'>, handle: Handle): boolean {
    return field(batch, 'input_file_id') === handle.fileId;
  }

  override async sharesAccount(wire: Wire, { fileId }: Handle): Promise<boolean | undefined> {
    if (fileId === undefined) return undefined;
    return isVisible(wire, this.fileAt(fileId));
  }

  poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    return pollBatches(wire, this.batchList, batches);
  }

  protected resultFiles(remote: Remote): readonly string[] {
    return [remote.sources.output, remote.sources.errors]
      .filter((id) => id !== undefined)
      .map((id) => (isUrl(id) ? id : `${this.fileAt(id)}/content`));
  }

  protected fileAt(id: string): string {
    return `${this.filesPath}/${encodeURIComponent(id)}`;
  }

  protected readLine(line: string): Row {
    return readResultLine(line, this.info.requestIdHeader, this.judge);
  }

  async cancel(wire: Wire, remote: Pick<Remote, 'id'>): Promise<void> {
    const path = `${this.batchesPath}/${encodeURIComponent(remote.id)}/cancel`;
    const reply = await expectOk(wire, { method: 'POST', path }, this.judge);
    batchBody(await reply.json(), 'status');
  }

  override async cleanup(wire: Wire, handle: Handle): Promise<void> {
    if (handle.fileId === undefined) return;
    await expectDone(wire, { method: 'DELETE', path: this.fileAt(handle.fileId) }, this.judge);
  }

  override async placeholder(route: RouteKey, json: JsonObject): Promise<unknown> {
    const { openaiPlaceholder } = await import('./openai-placeholder.ts');
    return openaiPlaceholder(route.endpoint, json);
  }

  override expects(route: Pick<Route, 'endpoint' | 'body'>, json: JsonObject): Expectation {
    return { ...super.expects(route, json), ...cacheWrites(route) };
  }

  /** Services that copy the wire do not copy the tier. */
  override flex({ endpoint }: RouteKey): FlexTier | undefined {
    return this.info.name === 'openai' ? openaiFlex(endpoint) : undefined;
  }

  usage(json: unknown): Usage | undefined {
    return openaiUsage(json);
  }

  errorBody(type: string, message: string): string {
    return JSON.stringify({ error: { message, type, param: null, code: type } });
  }
}
