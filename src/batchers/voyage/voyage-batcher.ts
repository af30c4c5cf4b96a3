import { count, field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type {
  Call,
  Envelope,
  Expectation,
  Limits,
  Match,
  OrdinaryCall,
  Plan,
  Remote,
  Route,
  RouteKey,
  Row,
  Usage,
} from '../batcher.ts';
import { voyageInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { StatusWords } from '../openai/openai-remote.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { memberText, onOneLine, withMember, withoutMembers } from '../shared/json-text.ts';
import { outcomeOf } from '../shared/outcomes.ts';

const hour = 3_600_000;
/** What a line holds of a call, by its path. */
const inLines: Readonly<Record<string, readonly string[]>> = {
  '/embeddings': ['input'],
  '/contextualizedembeddings': ['inputs'],
  '/rerank': ['query', 'documents'],
};
/** Everything else is said once for a whole batch; kept with the headers of its queue. */
const requestParams = 'request_params';

/**
 * Voyage's batches of embeddings and rankings: OpenAI's files, whose lines hold the texts alone.
 *
 * @example
 * await batchify(embedAll, { only: 'voyage' });
 */
export class VoyageBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = voyageInfo;
  override readonly notes: ProviderNotes = notes;
  // What has not run at the end of the window stands in the error file; samples have this word for it.
  protected override readonly statuses: StatusWords = { partially_completed: 'expired' };

  /** Nobody says which word stands for a window that has passed: one that is not known, with results, then does. */
  protected override toRemote(batch: unknown, wire: Wire): Remote {
    const remote = super.toRemote(batch, wire);
    const due = Date.parse(String(field(batch, 'expected_completion_at')));
    const isOver = remote.sources.output !== undefined && wire.clock.now() > due;
    if (!isOver || remote.state !== 'running' || remote.raw === 'in_progress') return remote;
    return { ...remote, state: 'ended', readable: true, unfinished: 'expired' };
  }

  override match(call: Call): Match {
    const { model } = call.json;
    if (typeof model !== 'string') return { bypass: 'the body names no model' };
    const line = onOneLine(call.body);
    const names = inLines[call.path] ?? [];
    const missing = names.find((name) => memberText(line, name) === undefined);
    if (missing !== undefined) return { bypass: `the body has no \`${missing}\`` };
    const params = withoutMembers(line, new Set(names));
    const units = textsIn(call.json);
    return {
      endpoint: this.endpointOf(call),
      model,
      batchHeaders: { [requestParams]: params },
      identity: call.query === '' ? [params] : [params, call.query],
      body: names.reduce((body, name) => copied(name, line, body), '{}'),
      ...(units !== 1 && { units }),
    };
  }

  override limits(_route: RouteKey): Limits {
    const half = { word: '12h', priceShare: 0.67 };
    return {
      items: 100_000,
      units: 100_000,
      recommendedItems: 10_000,
      bytes: 950_000_000,
      itemBytes: 950_000_000,
      inFlight: 64,
      // There is one window. Who has time for a day has time for half of it.
      windows: { '12h': half, '24h': half },
      pollMinimum: 0,
      outlives: 28 * hour,
    };
  }

  override envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","body":`, after: '}' };
  }

  override create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const { batchHeaders, ...route } = plan.route;
    const params = batchHeaders[requestParams] ?? '{}';
    // They belong in the body of the create, not among its headers.
    return super.create(
      wire,
      { ...plan, route: { ...route, batchHeaders: {} } },
      { ...handle, params },
    );
  }

  protected override createContent(plan: Plan, handle: Handle): string {
    const rest = JSON.stringify(this.createBody(plan, handle)).slice(0, -1);
    return `${rest},"${requestParams}":${handle.params}}`;
  }

  /** A line that failed has its reason beside its status, and no body. */
  protected override readLine(line: string): Row {
    const { custom_id: id, response } = fields(parseJson(line));
    const { status_code: status, message, body } = fields(response);
    const isFailed = typeof status === 'number' && status >= 400 && status <= 599 && isEmpty(body);
    if (!isFailed || typeof id !== 'string' || id === '') return super.readLine(line);
    const told = text(message) ?? `The request failed with status ${status}.`;
    const answer = {
      status,
      headers: { 'content-type': 'application/json' },
      body: errorText('voyage_error', told),
    };
    return { id, outcome: outcomeOf(answer, this.judge) };
  }

  /** A call that goes out alone says itself what a create says for its whole batch. */
  override ordinary(
    call: Pick<Call, 'path' | 'query' | 'settings'>,
    { model, body, batchHeaders = {} }: Parameters<OpenAIBatcher['ordinary']>[1],
  ): OrdinaryCall {
    const params = batchHeaders[requestParams] ?? '{}';
    const names = inLines[call.path] ?? [];
    const whole = names.reduce((request, name) => copied(name, body, request), params);
    return { ...super.ordinary(call, { model, body: whole }), headers: {} };
  }

  /** Neither vectors nor scores are tokens. */
  override expects(): Expectation {
    return { outputLimit: 0, answers: 1 };
  }

  override usage(json: unknown): Usage | undefined {
    const total = field(field(json, 'usage'), 'total_tokens');
    return total === undefined ? undefined : { inputTokens: count(total), outputTokens: 0 };
  }

  override errorBody(type: string, message: string): string {
    return errorText(type, message);
  }
}

function copied(name: string, from: string, to: string): string {
  return withMember(to, name, memberText(from, name) ?? 'null');
}

/** Texts that count against the limit of a batch: those to embed, or to rank. */
function textsIn({ input, inputs, documents }: Call['json']): number {
  return Math.max([input ?? inputs ?? documents].flat(2).length, 1);
}

/** Voyage says `detail`; the SDK of OpenAI, with which many call it, reads `error`. */
function errorText(type: string, message: string): string {
  return JSON.stringify({ detail: message, error: { message, type, param: null, code: type } });
}

const notes: ProviderNotes = {
  title: 'Voyage',
  foundBy: 'its input file',
  remarks: [
    'Embeddings, contextualized embeddings and rankings are batched; multimodal embeddings go out as ordinary calls.',
    'Everything but the texts is said once for a batch, so calls share one only if they agree in model, `input_type`, `output_dimension` and all other parameters.',
    'A batch may hold 100,000 texts (or documents to rank) in all its requests, and has 12 hours, whatever is asked for.',
    'At the end of the window finished answers are kept, and the rest is sent again.',
  ],
  unconfirmed: [
    'The last word of a batch whose window has passed: `partially_completed` and `expired` are understood; after the window any other unknown word ends a batch that has results.',
    'What a line of contextualized embeddings or of a ranking looks like: its body is handed on as it comes.',
    'Whether vectors come as base64 where that is asked for: batchling hands on what it gets.',
    'How the list of batches is cut in pages: batchling reads `has_more` and the last id, as at OpenAI.',
  ],
};
