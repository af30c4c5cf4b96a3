import type { JsonObject } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import type { Credentials, OutgoingRequest, Wire, WireReply } from '../../http/wire.ts';
import { anthropicMessages } from '../../streams/anthropic.ts';
import type { GivenCredential } from '../aws/aws-keys.ts';
import {
  Batcher,
  type Call,
  type Envelope,
  type Expectation,
  type Found,
  type Limits,
  type Match,
  type Plan,
  type PolledBatch,
  type ProviderInfo,
  type Remote,
  type Route,
  type RouteKey,
  type Row,
  type Usage,
} from '../batcher.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, pollBatches } from '../shared/batch-list.ts';
import { findAbove, highWaterOf } from '../shared/high-water.ts';
import { inlineBody, inlineFrameBytes } from '../shared/inline-body.ts';
import { onOneLine, withoutMembers } from '../shared/json-text.ts';
import { judgePlace } from '../shared/judge-reply.ts';
import { createdBody, expectOk, isGone, isVisible } from '../shared/replies.ts';
import { batchBody } from '../shared/reply-shapes.ts';
import { isUrl, resultReply } from '../shared/result-reply.ts';
import { resultRows } from '../shared/result-rows.ts';
import { anthropicInfo } from './anthropic-info.ts';
import { judgeAnthropic, judgeCreate } from './anthropic-judge.ts';
import { anthropicNotes } from './anthropic-notes.ts';
import { signForAws } from './anthropic-on-aws.ts';
import { claudeUsage } from './anthropic-usage.ts';
import {
  handleOf,
  headersOfBatch,
  readAs,
  readingHeaders,
  readResultLine,
  toRemote,
} from './anthropic-wire.ts';
import { cacheMinimum } from './cache-minimum.ts';
import { cacheWrites } from './cache-writes.ts';
import { refusedInBatches } from './refused-in-batches.ts';

const hour = 3_600_000;
const frame = { opening: '{"requests":[', closing: ']}' };
const streaming: ReadonlySet<string> = new Set(['stream']);

/** Anthropic's message batches: the requests travel inline in the create call. */
export class AnthropicBatcher extends Batcher {
  readonly info: ProviderInfo = anthropicInfo;
  override readonly notes: ProviderNotes = anthropicNotes;
  protected override readonly judge = judgeAnthropic;

  override sign(
    request: OutgoingRequest,
    captured: Credentials,
    given: GivenCredential | undefined,
  ): Promise<Credentials | undefined> {
    return signForAws(request, captured, given);
  }

  match(call: Call): Match {
    const { model, stream } = call.json;
    if (typeof model !== 'string') return { bypass: 'the body names no model' };
    const refused = refusedInBatches(call.json);
    if (refused !== undefined) return { bypass: `${refused} inside a batch` };
    const batchHeaders = headersOfBatch(call.headers);
    const line = onOneLine(call.body);
    return {
      endpoint: '/v1/messages',
      model,
      batchHeaders,
      identity: Object.entries(batchHeaders).map(([name, value]) => `${name}: ${value}`),
      body: stream === undefined ? line : withoutMembers(line, streaming),
      ...(stream === true && { stream: anthropicMessages }),
    };
  }

  limits({ model }: RouteKey): Limits {
    return {
      items: 100_000,
      recommendedItems: 10_000,
      bytes: 240_000_000,
      itemBytes: 240_000_000,
      inFlight: 16,
      windows: { '24h': { word: '24h', priceShare: 0.5 } },
      cacheMinimum: cacheMinimum(model),
      pollMinimum: 0,
      outlives: 28 * hour,
    };
  }

  envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","params":`, after: '}' };
  }

  override frameBytes(items: number): number {
    return inlineFrameBytes(frame, items);
  }

  async stage(wire: Wire, plan: Plan): Promise<Handle> {
    const { batchHeaders: headers } = plan.route;
    const list = { ...batchList, headers, judge: judgePlace(this.judge) };
    return { ...handleOf(headers), ...(await highWaterOf(wire, list)) };
  }

  async create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const reply = await wire.send({
      method: 'POST',
      path: '/messages/batches',
      headers: { 'content-type': 'application/json', ...plan.route.batchHeaders },
      body: inlineBody(plan, frame),
    });
    const created = await createdBody(wire, reply, judgePlace(judgeCreate));
    return readAs(toRemote(batchBody(created, 'processing_status')), handle);
  }

  find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found> {
    const list: BatchList = {
      ...batchList,
      headers: readingHeaders(handle),
      toRemote: (batch) => readAs(toRemote(batch), handle),
    };
    // One that does not say its size may be ours as well.
    const isCandidate = ({ counts }: Remote) => (counts?.total ?? plan.count) === plan.count;
    return findAbove(wire, list, handle, isCandidate);
  }

  override async sharesAccount(wire: Wire, handle: Handle): Promise<boolean | undefined> {
    const { highWater } = handle;
    if (highWater === undefined) return undefined;
    const path = `/messages/batches/${encodeURIComponent(highWater)}`;
    return isVisible(wire, path, readingHeaders(handle));
  }

  async *poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    const handles = new Map(batches.map(({ id, handle }) => [id, handle]));
    // They are batches of one account, so one token sees them all.
    const { betas } = batches.find(({ handle }) => handle.betas !== undefined)?.handle ?? {};
    const headers = readingHeaders(betas === undefined ? {} : { betas });
    for await (const remote of pollBatches(wire, { ...batchList, headers }, batches)) {
      yield readAs(remote, handles.get(remote.id) ?? {});
    }
  }

  async *results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    const { id, sources } = remote;
    const { url } = sources;
    if (url === undefined) return;
    const isOwn = this.#isDeclared(wire, url);
    const path = isOwn ? url : `/messages/batches/${encodeURIComponent(id)}/results`;
    const request = { method: 'GET', path, headers: readingHeaders(sources) } as const;
    const reply = await expectOk(wire, request, this.judge).catch((error: unknown) =>
      isOwn ? Promise.reject(error) : this.#elsewhere(wire, url, error),
    );
    yield* resultRows(reply, readResultLine);
  }

  /**
   * Behind a gateway `results_url` names the provider's own host, which must not see a credential that
   * is meant for the gateway. The results are there, too, below the base.
   */
  #isDeclared(wire: Wire, url: string): boolean {
    const declared = this.origins(wire.base).map((origin) => new URL(origin).origin);
    return URL.canParse(url) && declared.includes(new URL(url).origin);
  }

  /** Results that are not below the base may be readable by their URL alone. No key goes there. */
  async #elsewhere(wire: Wire, url: string, error: unknown): Promise<WireReply> {
    if (!isGone(error) || !isUrl(url)) throw error;
    // If it does not help, the first answer is the one that counts.
    return resultReply(wire, url, this.judge).catch(() => Promise.reject(error));
  }

  async cancel(
    wire: Wire,
    { id, sources = {} }: Pick<Remote, 'id'> & Partial<Pick<Remote, 'sources'>>,
  ): Promise<void> {
    const path = `/messages/batches/${encodeURIComponent(id)}/cancel`;
    const headers = readingHeaders(sources);
    const reply = await expectOk(wire, { method: 'POST', path, headers }, this.judge);
    batchBody(await reply.json(), 'processing_status');
  }

  override async placeholder(route: RouteKey, json: JsonObject): Promise<unknown> {
    const { anthropicPlaceholder } = await import('./anthropic-placeholder.ts');
    return anthropicPlaceholder(route.model, json);
  }

  override expects(route: Pick<Route, 'endpoint' | 'body'>, json: JsonObject): Expectation {
    return { ...super.expects(route, json), ...cacheWrites(route, json) };
  }

  usage(json: unknown): Usage | undefined {
    return claudeUsage(json);
  }

  errorBody(type: string, message: string): string {
    return JSON.stringify({ type: 'error', error: { type, message } });
  }
}

const batchList: BatchList = {
  path: '/messages/batches',
  after: 'after_id',
  headers: readingHeaders({}),
  judge: judgeAnthropic,
  toRemote,
};
