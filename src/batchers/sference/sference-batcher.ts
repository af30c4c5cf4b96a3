import { field, type JsonObject, text } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import type { Wire, WireReply } from '../../http/wire.ts';
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
  type RouteKey,
  type Row,
  type Usage,
} from '../batcher.ts';
import { chatDialect, lineBody } from '../openai/openai-calls.ts';
import { openaiUsage } from '../openai/openai-usage.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, pollBatches } from '../shared/batch-list.ts';
import { findAbove, highWaterOf } from '../shared/high-water.ts';
import { inlineBody, inlineFrameBytes } from '../shared/inline-body.ts';
import { onOneLine } from '../shared/json-text.ts';
import { judgeByStatus, judgePlace } from '../shared/judge-reply.ts';
import { judgeNamedRequest } from '../shared/named-request.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { createdBody, expectOk, isVisible, ReplyError } from '../shared/replies.ts';
import { batchBody, listPage } from '../shared/reply-shapes.ts';
import { resultRows } from '../shared/result-rows.ts';
import { sferenceInfo } from './sference-info.ts';
import { sferenceNotes } from './sference-notes.ts';
import { errorMember, readResultLine, toRemote, withSdkError } from './sference-wire.ts';

const hour = 3_600_000;
const frame = { opening: '{"window":"24h","requests":[', closing: ']}' };

const batchList: BatchList = {
  path: '/batches',
  limit: null,
  after: 'after',
  readPage: (body) => ({ ...listPage({ data: field(body, 'items') }), next: undefined }),
  toRemote,
};

/**
 * sference's batches: chat completions travel inline in the create call.
 *
 * @example
 * class OwnSferenceBatcher extends SferenceBatcher {
 *   override readonly info = { ...sferenceInfo, name: 'own', hosts: ['llm.example.com'] };
 * }
 * batchify(fn, { batchers: [OwnSferenceBatcher] });
 */
export class SferenceBatcher extends Batcher {
  readonly info: ProviderInfo = sferenceInfo;
  override readonly notes: ProviderNotes = sferenceNotes;

  match({ json, body, query }: Call): Match {
    const { model, stream, background } = json;
    if (typeof model !== 'string') return { bypass: 'the body names no model' };
    if (background === true) return { bypass: '`background` is refused inside a batch' };
    const line = onOneLine(body);
    return {
      endpoint: '/v1/chat/completions',
      model,
      batchHeaders: {},
      identity: query === '' ? [] : [query],
      body: lineBody(line, 'stream' in json),
      ...(stream === true && { stream: chatDialect({ json }) }),
    };
  }

  limits(_route: RouteKey): Limits {
    return {
      // No limit is published; a create that is too large is sent in halves.
      items: 10_000,
      recommendedItems: 1_000,
      bytes: 10_000_000,
      itemBytes: 10_000_000,
      inFlight: 4,
      windows: { '24h': { word: '24h', priceShare: 1 } },
      pollMinimum: 0,
      outlives: 28 * hour,
    };
  }

  envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","body":`, after: '}' };
  }

  override frameBytes(items: number): number {
    return inlineFrameBytes(frame, items);
  }

  stage(wire: Wire, _plan: Plan): Promise<Handle> {
    return highWaterOf(wire, { ...batchList, judge: judgePlace(this.judge) });
  }

  async create(wire: Wire, plan: Plan, _handle: Handle): Promise<Remote> {
    const reply = await wire.send({
      method: 'POST',
      path: '/batches',
      headers: { 'content-type': 'application/json' },
      body: inlineBody(plan, frame),
    });
    try {
      const body = await createdBody(wire, reply, judgePlace(judgeNamedRequest(this.judge)));
      return toRemote(batchBody(body, 'status'));
    } catch (error) {
      throw error instanceof RefusedError ? new RefusedError(withSdkError(error.failure)) : error;
    }
  }

  find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found> {
    const isCandidate = (_remote: Remote, batch: unknown) =>
      (field(batch, 'request_count') ?? plan.count) === plan.count;
    return findAbove(wire, batchList, handle, isCandidate);
  }

  override async sharesAccount(wire: Wire, { highWater }: Handle): Promise<boolean | undefined> {
    return highWater === undefined ? undefined : isVisible(wire, batchAt(highWater));
  }

  poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    return pollBatches(wire, batchList, batches);
  }

  async *results(wire: Wire, { id }: Remote): AsyncIterable<readonly Row[]> {
    yield* resultRows(await this.#openResults(wire, id), readResultLine);
  }

  /** Results may have been put elsewhere. Nothing but the base's own origin is shown the key. */
  async #openResults(wire: Wire, id: string): Promise<WireReply> {
    try {
      const path = `${batchAt(id)}/results.jsonl`;
      return await expectOk(wire, { method: 'GET', path }, this.judge);
    } catch (error) {
      if (!(error instanceof ReplyError) || !isElsewhere(error.status)) throw error;
      const path = await outputUrl(wire, id);
      if (path === undefined) throw error;
      return expectOk(wire, { method: 'GET', path }, this.judge);
    }
  }

  async cancel(wire: Wire, { id }: Pick<Remote, 'id'>): Promise<void> {
    const path = `${batchAt(id)}/cancel`;
    const reply = await expectOk(wire, { method: 'POST', path }, this.judge);
    batchBody(await reply.json(), 'status');
  }

  override async placeholder(route: RouteKey, json: JsonObject): Promise<unknown> {
    const { openaiPlaceholder } = await import('../openai/openai-placeholder.ts');
    return openaiPlaceholder(route.endpoint, json);
  }

  usage(json: unknown): Usage | undefined {
    return openaiUsage(json);
  }

  errorBody(type: string, message: string): string {
    return JSON.stringify({ detail: message, error: errorMember(type, message) });
  }
}

function batchAt(id: string): string {
  return `/batches/${encodeURIComponent(id)}`;
}

/** A redirect, or "not found": the other address of the results may know more. */
function isElsewhere(status: number): boolean {
  return status === 404 || (status >= 300 && status < 400);
}

async function outputUrl(wire: Wire, id: string): Promise<string | undefined> {
  const path = `${batchAt(id)}/results`;
  const reply = await expectOk(wire, { method: 'GET', path }, judgeByStatus);
  const url = text(field(await reply.json(), 'output_url'));
  return url !== undefined && URL.canParse(url) ? url : undefined;
}
