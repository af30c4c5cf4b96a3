import type { Wire } from '../../http/wire.ts';
import { anthropicMessages } from '../../streams/anthropic.ts';
import type { Handle, ItemId } from '../../types.ts';
import {
  Batcher,
  type Call,
  type Envelope,
  type Found,
  type Limits,
  type Match,
  type Plan,
  type PolledBatch,
  type ProviderInfo,
  type Remote,
  type Route,
  type Row,
  type Usage,
} from '../batcher.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, pollBatches } from '../shared/batch-list.ts';
import { findAbove, highWaterOf } from '../shared/high-water.ts';
import { inlineBody, inlineFrameBytes } from '../shared/inline-body.ts';
import { onOneLine, withoutMembers } from '../shared/json-text.ts';
import { judgePlace } from '../shared/judge-reply.ts';
import { field } from '../shared/outcomes.ts';
import { createdBody, expectOk, isVisible } from '../shared/replies.ts';
import { batchBody } from '../shared/reply-shapes.ts';
import { resultRows } from '../shared/result-rows.ts';
import { anthropicInfo } from './anthropic-info.ts';
import { judgeAnthropic, judgeCreate } from './anthropic-judge.ts';
import { anthropicNotes } from './anthropic-notes.ts';
import {
  claudeUsage,
  headersOfBatch,
  readResultLine,
  toRemote,
  versionOnly,
} from './anthropic-wire.ts';

const hour = 3_600_000;
const frame = { opening: '{"requests":[', closing: ']}' };
const streaming: ReadonlySet<string> = new Set(['stream']);

/** Anthropic's message batches: the requests travel inline in the create call. */
export class AnthropicBatcher extends Batcher {
  readonly info: ProviderInfo = anthropicInfo;
  override readonly notes: ProviderNotes = anthropicNotes;
  protected override readonly judge = judgeAnthropic;

  match(call: Call): Match {
    const { model, stream, max_tokens: maxTokens } = call.json;
    if (typeof model !== 'string') return { bypass: 'the body names no model' };
    if (asksForSpeed(call.json)) return { bypass: '`speed` is refused inside a batch' };
    if (maxTokens === 0) return { bypass: '`max_tokens: 0` is refused inside a batch' };
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

  limits(_route: Pick<Route, 'endpoint' | 'model'>): Limits {
    return {
      items: 100_000,
      recommendedItems: 10_000,
      bytes: 240_000_000,
      itemBytes: 240_000_000,
      inFlight: 16,
      windows: { '24h': { word: '24h', priceShare: 0.5 } },
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

  stage(wire: Wire, plan: Plan): Promise<Handle> {
    const { batchHeaders: headers } = plan.route;
    return highWaterOf(wire, { ...batchList, headers, judge: judgePlace(this.judge) });
  }

  async create(wire: Wire, plan: Plan, _handle: Handle): Promise<Remote> {
    const reply = await wire.send({
      method: 'POST',
      path: '/messages/batches',
      headers: { 'content-type': 'application/json', ...plan.route.batchHeaders },
      body: inlineBody(plan, frame),
    });
    return toRemote(
      batchBody(await createdBody(wire, reply, judgePlace(judgeCreate)), 'processing_status'),
    );
  }

  find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found> {
    // One that does not say its size may be ours as well.
    const isCandidate = ({ counts }: Remote) => (counts?.total ?? plan.count) === plan.count;
    return findAbove(wire, batchList, handle, isCandidate);
  }

  override async sharesAccount(wire: Wire, { highWater }: Handle): Promise<boolean | undefined> {
    if (highWater === undefined) return undefined;
    return isVisible(wire, `/messages/batches/${encodeURIComponent(highWater)}`, versionOnly);
  }

  poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    return pollBatches(wire, batchList, batches);
  }

  async *results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    if (remote.sources.url === undefined) return;
    const path = this.#resultsAt(wire, remote.id, remote.sources.url);
    const reply = await expectOk(wire, { method: 'GET', path, headers: versionOnly }, this.judge);
    yield* resultRows(reply, readResultLine);
  }

  /**
   * Behind a gateway `results_url` names the provider's own host, which must not see a credential that
   * is meant for the gateway. The results are there, too, below the base.
   */
  #resultsAt(wire: Wire, id: string, url: string): string {
    const declared = this.origins(wire.base).map((origin) => new URL(origin).origin);
    const isDeclared = URL.canParse(url) && declared.includes(new URL(url).origin);
    return isDeclared ? url : `/messages/batches/${encodeURIComponent(id)}/results`;
  }

  async cancel(wire: Wire, remote: Pick<Remote, 'id'>): Promise<void> {
    const path = `/messages/batches/${encodeURIComponent(remote.id)}/cancel`;
    const reply = await expectOk(wire, { method: 'POST', path, headers: versionOnly }, this.judge);
    batchBody(await reply.json(), 'processing_status');
  }

  usage(json: unknown): Usage | undefined {
    return claudeUsage(json);
  }

  errorBody(type: string, message: string): string {
    return JSON.stringify({ type: 'error', error: { type, message } });
  }
}

/** Fast mode, for the request itself or for one of its fallbacks. */
function asksForSpeed(json: Readonly<Record<string, unknown>>): boolean {
  const fallbacks = Array.isArray(json.fallbacks) ? json.fallbacks : [];
  return [json, ...fallbacks].some((part) => field(part, 'speed') !== undefined);
}

const batchList: BatchList = {
  path: '/messages/batches',
  after: 'after_id',
  headers: versionOnly,
  judge: judgeAnthropic,
  toRemote,
};
