import { createHash } from 'node:crypto';
import { field, fields, type JsonObject } from '../../base/json.ts';
import type { Dict, Handle, ItemId } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import { anthropicMessages } from '../../streams/anthropic.ts';
import { openaiChat } from '../../streams/openai-chat.ts';
import { openaiResponses } from '../../streams/openai-responses.ts';
import type { StreamDialect } from '../../streams/stream-dialect.ts';
import { claudeUsage } from '../anthropic/anthropic-usage.ts';
import {
  Batcher,
  type Call,
  type Envelope,
  type Found,
  type Limits,
  type Match,
  type OrdinaryCall,
  type Plan,
  type PolledBatch,
  type ProviderInfo,
  type Remote,
  type Route,
  type RouteKey,
  type Row,
  type Usage,
} from '../batcher.ts';
import { openaiUsage } from '../openai/openai-usage.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, pollBatches } from '../shared/batch-list.ts';
import { findAbove, highWaterOf } from '../shared/high-water.ts';
import { inlineBody } from '../shared/inline-body.ts';
import { onOneLine, withMember, withoutMembers } from '../shared/json-text.ts';
import { judgePlace } from '../shared/judge-reply.ts';
import { judgeNamedRequest } from '../shared/named-request.ts';
import { createdBody, expectOk, isSeen } from '../shared/replies.ts';
import { batchBody, idOf } from '../shared/reply-shapes.ts';
import { openrouterInfo } from './openrouter-info.ts';
import { openrouterNotes } from './openrouter-notes.ts';
import { batchWire, errorText, readOne, readPage, resultsIn, toRemote } from './openrouter-wire.ts';
import { otherPreference, whyUnbatched } from './why-unbatched.ts';

const hour = 3_600_000;
const batchList: BatchList = { path: '/batches', after: 'after', readPage, readOne, toRemote };
/** What a create says of a whole batch beside endpoint and model; kept with the headers of its queue. */
const providersOnly = 'provider.only';

/**
 * OpenRouter's batches: calls in the wires of OpenAI and Anthropic travel inline in the create call, and their
 * answers come back in the batch itself.
 */
export class OpenRouterBatcher extends Batcher {
  readonly info: ProviderInfo = openrouterInfo;
  override readonly notes: ProviderNotes = openrouterNotes;

  match(call: Call): Match {
    const { path, json, body, query } = call;
    const { model, stream } = json;
    if (typeof model !== 'string') return { bypass: 'the body names no model' };
    const reason = whyUnbatched(call);
    if (reason !== undefined) return { bypass: reason };
    const dialect = stream === true ? dialectOf(call) : undefined;
    if (stream === true && !dialect) return { bypass: 'this endpoint has no streamed answers' };
    // With any other preference this is a call of the realtime lane, whose body says it all.
    const isPart = otherPreference(json.provider) === undefined;
    const only = isPart ? field(json.provider, 'only') : undefined;
    const batchHeaders: Dict = only ? { [providersOnly]: JSON.stringify(only) } : {};
    const partition = formatKey(json);
    const besides = ['stream', 'stream_options', ...(isPart ? ['provider'] : [])];
    const left = besides.filter((name) => name in json);
    const line = onOneLine(body);
    return {
      endpoint: `/v1${path}`,
      model,
      batchHeaders,
      identity: [...Object.values(batchHeaders), ...(query === '' ? [] : [query])],
      body: left.length > 0 ? withoutMembers(line, new Set(left)) : line,
      ...(partition !== undefined && { partition }),
      ...(dialect && { stream: dialect }),
    };
  }

  limits(_route: RouteKey): Limits {
    return {
      // No limit is published; a create that is too large is sent in halves.
      items: 10_000,
      recommendedItems: 2_000,
      bytes: 50_000_000,
      itemBytes: 50_000_000,
      inFlight: 8,
      windows: { '24h': { word: '24h', priceShare: 0.5 } },
      pollMinimum: 0,
      // Models of Google may take up to 96 hours, whatever the window is.
      outlives: 100 * hour,
    };
  }

  envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","body":`, after: '}' };
  }

  /** A comma between two items; what stands around all of them is the same for every size. */
  override frameBytes(items: number): number {
    return Math.max(0, items - 1);
  }

  stage(wire: Wire, _plan: Plan): Promise<Handle> {
    return highWaterOf(batchWire(wire), { ...batchList, judge: judgePlace(this.judge) });
  }

  async create(wire: Wire, plan: Plan, _handle: Handle): Promise<Remote> {
    const reply = await batchWire(wire).send({
      method: 'POST',
      path: '/batches',
      headers: { 'content-type': 'application/json' },
      body: inlineBody(plan, { opening: openingOf(plan), closing: ']}' }),
    });
    const body = await createdBody(wire, reply, judgePlace(judgeNamedRequest(this.judge)));
    return toRemote(batchBody(body, 'status'), wire);
  }

  find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found> {
    // One that does not say its size yet may be ours as well.
    const isCandidate = ({ counts }: Remote) => [0, plan.count].includes(counts?.total ?? 0);
    return findAbove(batchWire(wire), batchList, handle, isCandidate);
  }

  override async sharesAccount(wire: Wire, { highWater }: Handle): Promise<boolean | undefined> {
    if (highWater === undefined) return undefined;
    return isSeen(async () => {
      const reply = await expectOk(batchWire(wire), { method: 'GET', path: batchAt(highWater) });
      return idOf(await readOne(reply), 'a batch');
    });
  }

  poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    return pollBatches(batchWire(wire), batchList, batches);
  }

  async *results(wire: Wire, { id, unfinished }: Remote): AsyncIterable<readonly Row[]> {
    const request = { method: 'GET', path: batchAt(id) } as const;
    const reply = await expectOk(batchWire(wire), request, this.judge);
    yield* resultsIn(reply, this.info.requestIdHeader, unfinished !== undefined);
  }

  /** Not documented, and answered with 404 so far: asked for all the same, for what is not cancelled is paid for. */
  async cancel(wire: Wire, { id }: Pick<Remote, 'id'>): Promise<void> {
    const request = { method: 'POST', path: `${batchAt(id)}/cancel` } as const;
    const reply = await expectOk(batchWire(wire), request, this.judge);
    batchBody(await reply.json(), 'status');
  }

  override async placeholder(route: RouteKey, json: JsonObject): Promise<unknown> {
    if (route.endpoint === '/v1/messages') {
      const { anthropicPlaceholder } = await import('../anthropic/anthropic-placeholder.ts');
      return anthropicPlaceholder(route.model, json);
    }
    const { openaiPlaceholder } = await import('../openai/openai-placeholder.ts');
    return openaiPlaceholder(route.endpoint, json);
  }

  /** What a create says of its whole batch stands in the body of a call that goes out alone. */
  override ordinary(
    call: Pick<Call, 'path' | 'query' | 'settings'>,
    { model, body, batchHeaders = {} }: Parameters<Batcher['ordinary']>[1],
  ): OrdinaryCall {
    const only = batchHeaders[providersOnly];
    const whole = only === undefined ? body : withMember(body, 'provider', `{"only":${only}}`);
    return { ...super.ordinary(call, { model, body: whole }), headers: {} };
  }

  /** With a key of the user's own at the provider behind it, `cost` is OpenRouter's fee alone, and what that provider bills comes on top. */
  usage(json: unknown): Usage | undefined {
    const usage = field(json, 'type') === 'message' ? claudeUsage(json) : openaiUsage(json);
    if (usage === undefined) return undefined;
    const { cost, is_byok: isOwnKey, cost_details: details } = fields(field(json, 'usage'));
    const upstream = isOwnKey === true ? field(details, 'upstream_inference_cost') : 0;
    if (typeof cost !== 'number' || typeof upstream !== 'number') return usage;
    return { ...usage, billed: cost + upstream };
  }

  errorBody(type: string, message: string): string {
    return errorText(type, message);
  }
}

function batchAt(id: string): string {
  return `/batches/${encodeURIComponent(id)}`;
}

/** Read as a stream at OpenRouter: endpoint and model have to come before the requests. */
function openingOf({ route }: Plan): string {
  const { endpoint, model, batchHeaders } = route;
  const only = batchHeaders[providersOnly];
  const provider = only === undefined ? '' : `"provider":{"only":${only}},`;
  return `{"endpoint":${JSON.stringify(endpoint)},"model":${JSON.stringify(model)},${provider}"requests":[`;
}

function dialectOf({ path, json }: Call): StreamDialect | undefined {
  if (path === '/messages') return anthropicMessages;
  if (path === '/responses') return openaiResponses;
  const includeUsage = field(json.stream_options, 'include_usage') === true;
  return path === '/chat/completions' ? openaiChat({ includeUsage }) : undefined;
}

/** Google makes one schema for a whole batch, so that requests with another cannot be in it. */
function formatKey(json: JsonObject): string | undefined {
  if (!String(json.model).startsWith('google/')) return undefined;
  const format =
    json.response_format ?? field(json.text, 'format') ?? field(json.output_config, 'format');
  if (format === undefined || format === null) return undefined;
  return createHash('sha256').update(JSON.stringify(format)).digest('base64url');
}
