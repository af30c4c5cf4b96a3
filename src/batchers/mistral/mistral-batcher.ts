import { field, text } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import { mistralChat } from '../../streams/mistral-chat.ts';
import type { StreamDialect } from '../../streams/stream-dialect.ts';
import type {
  Call,
  Envelope,
  Limits,
  Match,
  OrdinaryCall,
  Plan,
  Remote,
  Route,
  RouteKey,
  Row,
} from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import type { BatchList } from '../shared/batch-list.ts';
import { withMember, withoutMembers } from '../shared/json-text.ts';
import { judgeByStatus, judgePlace } from '../shared/judge-reply.ts';
import { createdAt, newestBatch } from '../shared/list-order.ts';
import { isVisible } from '../shared/replies.ts';
import { type ListPage, listPage } from '../shared/reply-shapes.ts';
import { fitsInline, inlineCreate } from './inline-create.ts';
import { mistralError } from './mistral-error.ts';
import { mistralInfo } from './mistral-info.ts';
import { mistralNotes } from './mistral-notes.ts';
import { toMistralRemote } from './mistral-remote.ts';
import { readMistralLine } from './mistral-results.ts';

const hour = 3_600_000;
const jobMembers: ReadonlySet<string> = new Set(['model']);
const streamed = new Set(['/chat/completions', '/fim/completions']);

/**
 * Mistral's batch jobs. The model stands on the job. Small batches travel in the create call, others in a
 * file; the handle says which it is.
 *
 * @example
 * const answers = await batchify(() => Promise.all(prompts.map(ask)), {
 *   hosts: { 'https://mistral.proxy.example/v1': 'mistral' },
 * });
 */
export class MistralBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = mistralInfo;
  override readonly notes: ProviderNotes = mistralNotes;
  protected override readonly batchesPath = '/batch/jobs';
  protected override readonly judge = judgeByStatus;

  protected override get batchList(): BatchList {
    return { ...super.batchList, limit: 'page_size', after: 'page', readPage };
  }

  override match(call: Call): Match {
    const reason = whyUnbatched(call);
    if (reason !== undefined) return { bypass: reason };
    const match = super.match(call);
    if (!('body' in match)) return match;
    return { ...match, body: withoutMembers(match.body, jobMembers) };
  }

  /** The model, which a job names for all its lines, goes back into the body. */
  override ordinary(
    call: Pick<Call, 'path' | 'query' | 'settings'>,
    { model, body }: Pick<Route, 'model' | 'body'>,
  ): OrdinaryCall {
    return super.ordinary(call, { model, body: withMember(body, 'model', JSON.stringify(model)) });
  }

  protected override dialect({ path }: Call): StreamDialect | undefined {
    return streamed.has(path) ? mistralChat : undefined;
  }

  override limits(_route: RouteKey): Limits {
    return {
      items: 100_000,
      recommendedItems: 10_000,
      bytes: 500_000_000,
      itemBytes: 500_000_000,
      inFlight: 64,
      // The provider's word is a number of hours; it has to be less than seven days.
      windows: {
        '24h': { word: '24', priceShare: 0.5 },
        '48h': { word: '48', priceShare: 0.5 },
        '72h': { word: '72', priceShare: 0.5 },
        '6d': { word: '144', priceShare: 0.5 },
      },
      pollMinimum: 0,
      outlives: 148 * hour,
    };
  }

  override envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","body":`, after: '}' };
  }

  /** Whether the requests travel in the create call. */
  protected goesInline(plan: Plan): boolean {
    return fitsInline(plan);
  }

  /** A create without a file needs the bodies again. */
  override canCreateFrom({ fileId }: Handle): boolean {
    return fileId !== undefined;
  }

  /**
   * What travels in the create is found again by the token in its metadata. The newest job is remembered, so
   * that the list need not be read to its end: ours must be newer.
   */
  override async stage(wire: Wire, plan: Plan): Promise<Handle> {
    if (!this.goesInline(plan)) return super.stage(wire, plan);
    const list = { ...this.batchList, judge: judgePlace(this.judge) };
    const newest = await newestBatch(wire, list);
    const id = text(field(newest, 'id'));
    const at = createdAt(newest);
    return {
      form: 'inline',
      ...(id !== undefined && { highWater: id }),
      ...(at !== undefined && { uploadedAt: String(at) }),
    };
  }

  protected override createContent(plan: Plan, handle: Handle): string | StreamedBody {
    const { fileId } = handle;
    if (fileId !== undefined) return super.createContent(plan, handle);
    return inlineCreate(plan, jobOf(plan));
  }

  protected override createBody(plan: Plan, { fileId }: Handle): object {
    return { input_files: [fileId], ...jobOf(plan) };
  }

  protected override isOurs(job: unknown, { token }: Pick<Plan, 'token'>, handle: Handle): boolean {
    const files = field(job, 'input_files');
    const hasFile = handle.fileId !== undefined && Array.isArray(files);
    if (hasFile && files.includes(handle.fileId)) return true;
    return field(field(job, 'metadata'), 'batchling') === token;
  }

  override async sharesAccount(wire: Wire, handle: Handle): Promise<boolean | undefined> {
    const { highWater } = handle;
    if (highWater === undefined) return super.sharesAccount(wire, handle);
    return isVisible(wire, `${this.batchesPath}/${encodeURIComponent(highWater)}`);
  }

  protected override toRemote(job: unknown, wire: Pick<Wire, 'redact'>): Remote {
    return toMistralRemote(job, wire);
  }

  protected override readLine(line: string): Row {
    return readMistralLine(line);
  }

  override errorBody(type: string, message: string): string {
    return mistralError(type, message);
  }
}

/** What a job says beside its requests. */
function jobOf({ route, completionWindow, tags, token }: Plan): object {
  return {
    endpoint: route.endpoint,
    model: route.model,
    metadata: { ...tags, batchling: token },
    timeout_hours: Number(completionWindow),
  };
}

function whyUnbatched({ path, json }: Call): string | undefined {
  if (path === '/audio/transcriptions' && !json.file_url && !json.file_id) {
    return 'a transcription in a batch needs `file_url` or `file_id`';
  }
  if (path !== '/conversations') return undefined;
  if (json.agent_id) return 'a batch has a model, and no agent of the conversations API';
  if (json.store === false) return undefined;
  return 'a conversation is stored to be continued, which a batch may not do; `store: false` helps';
}

/** Pages have numbers from zero up, and end with an empty one if not before: `data` is optional, `total` is not. */
function readPage(body: unknown, page = '0'): ListPage {
  const total = field(body, 'total');
  const isBeyond = total === 0 || (typeof total === 'number' && page !== '0');
  if (isBeyond && (field(body, 'data') ?? undefined) === undefined) {
    return { batches: [], next: undefined };
  }
  const { batches } = listPage(body);
  const isAll = page === '0' && typeof total === 'number' && batches.length >= total;
  const isLast = batches.length === 0 || isAll;
  return { batches, next: isLast ? undefined : String(Number(page) + 1) };
}
