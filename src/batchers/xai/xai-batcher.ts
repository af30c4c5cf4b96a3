import { UnknownOutcomeError } from '../../base/errors.ts';
import { count, field, fields, text } from '../../base/json.ts';
import type { Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type {
  Call,
  Limits,
  Match,
  Plan,
  PolledBatch,
  ProviderInfo,
  Remote,
  RouteKey,
  Row,
  Usage,
} from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import { judgeCreate } from '../openai/openai-judge.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { type BatchList, pollBatches } from '../shared/batch-list.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { createdBody, expectOk } from '../shared/replies.ts';
import { type ListPage, listPage } from '../shared/reply-shapes.ts';
import { xaiInfo } from './xai-info.ts';
import { judgeXai } from './xai-judge.ts';
import { hasNoBatches, priceShareOf } from './xai-models.ts';
import { xaiNotes } from './xai-notes.ts';
import { toXaiRemote } from './xai-remote.ts';
import { readResultPage } from './xai-results.ts';

const hour = 3_600_000;
const rowsOnPage = 100;
/** A batch with no more rows than this is read with every poll. */
const fewRows = 1_000;
/** More pages than any batch has, even if they are nearly empty. */
const mostPages = 50_000;
const ticksPerDollar = 1e10;

/**
 * xAI's batches in their file form: lines like OpenAI's, but counters instead of a status, and pages of
 * results instead of files.
 *
 * @example
 * class RegionalBatcher extends XaiBatcher {
 *   override readonly info = { ...xaiInfo, name: 'xai-eu', hosts: ['eu-west-1.api.x.ai'] };
 * }
 * batchify(fn, { batchers: [RegionalBatcher] });
 */
export class XaiBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = xaiInfo;
  override readonly notes: ProviderNotes = xaiNotes;
  protected override readonly judge: ReplyJudge = judgeXai;

  protected override get batchList(): BatchList {
    return { ...super.batchList, after: 'pagination_token', id: 'batch_id', readPage };
  }

  protected override toRemote(batch: unknown, wire: Pick<Wire, 'redact'>): Remote {
    return toXaiRemote(batch, wire);
  }

  override match(call: Call): Match {
    const { model, deferred, tools, service_tier: tier } = call.json;
    if (deferred === true) return { bypass: 'deferred completions are asynchronous already' };
    if (tier === 'priority') return { bypass: 'priority processing is not offered in batches' };
    if (hasNoBatches(model)) return { bypass: `xAI does not support ${model} in batches` };
    if (Array.isArray(tools) && tools.some((tool) => field(tool, 'type') !== 'function')) {
      return { bypass: "xAI's own tools make batched answers another shape" };
    }
    return super.match(call);
  }

  override limits(route: RouteKey): Limits {
    return {
      ...super.limits(route),
      // 25 MB by the book, with the same head-room as the file.
      itemBytes: 24_000_000,
      // Two creates a second are allowed, and a batch may end within seconds.
      inFlight: 16,
      windows: { '24h': { word: '24h', priceShare: priceShareOf(route.model) } },
      outlives: 72 * hour,
    };
  }

  protected override uploadFields(): [] {
    return [];
  }

  override async create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const reply = await wire.send({
      method: 'POST',
      path: this.batchesPath,
      headers: { 'content-type': 'application/json', ...plan.route.batchHeaders },
      body: JSON.stringify({ name: plan.token, input_file_id: handle.fileId }),
    });
    return this.toRemote(await createdBody(wire, reply, judgeCreate(this.judge)), wire);
  }

  /** Either is proof enough: nobody else has this name, and nobody else has this file. */
  protected override isOurs(batch: unknown, { token }: Pick<Plan, 'token'>, handle: Handle) {
    return field(batch, 'name') === token || super.isOurs(batch, { token }, handle);
  }

  override poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    const sent = new Map(batches.map(({ id, count: requests }) => [id, requests]));
    const toRemote = (batch: unknown) => {
      const requests = sent.get(String(field(batch, 'batch_id'))) ?? 0;
      return toXaiRemote(batch, wire, { now: wire.clock.now(), sent: requests });
    };
    return pollBatches(wire, { ...this.batchList, toRemote }, batches);
  }

  /**
   * Results come as requests finish, sorted by id: new ones may be on any page, so each reading begins with
   * the first. The cursor is how many had finished at the last one.
   */
  override async *results(
    wire: Wire,
    remote: Remote,
    cursor?: string,
  ): AsyncIterable<readonly Row[]> {
    const { state, counts, sources } = remote;
    const finished = counts === undefined ? undefined : counts.completed + counts.failed;
    if (state !== 'ended' && !isWorthReading(finished, Number(cursor ?? 0))) return;
    // Before the end a cancelled request may still turn out to have run.
    const cancelledBecause = state === 'ended' ? sources.cancelledBecause : undefined;
    let isEmpty = true;
    let isUnderstood = false;
    let isGarbled = false;
    for await (const page of this.#resultPages(wire, remote.id, cancelledBecause)) {
      isEmpty &&= page.rows.length === 0;
      isUnderstood ||= page.rows.some((row) => 'id' in row);
      isGarbled ||= page.isGarbled;
      yield page.rows;
    }
    if (isGarbled || !(isUnderstood || isEmpty)) yield [{ unreadable: 'garbled' }];
    else if (isEmpty) yield [{ unreadable: 'empty' }];
    else if (state !== 'ended') yield [{ cursor: String(finished ?? 0) }];
  }

  override async cancel(wire: Wire, { id }: Pick<Remote, 'id'>): Promise<void> {
    const reply = await expectOk(
      wire,
      {
        method: 'POST',
        path: `${this.#batchAt(id)}:cancel`,
        headers: { 'content-type': 'application/json' },
        body: '{}',
      },
      this.judge,
    );
    this.toRemote(await reply.json(), wire);
  }

  /** What a model has thought is paid for, and stands in the total only. What was billed is said, too. */
  override usage(json: unknown): Usage | undefined {
    const usage = super.usage(json);
    if (usage === undefined) return undefined;
    const { total_tokens: total, cost_in_usd_ticks: ticks } = fields(field(json, 'usage'));
    const outputTokens = Math.max(usage.outputTokens, count(total) - usage.inputTokens);
    return {
      ...usage,
      outputTokens,
      ...(typeof ticks === 'number' && { billed: ticks / ticksPerDollar }),
    };
  }

  override errorBody(type: string, message: string): string {
    return JSON.stringify({ code: type, error: message });
  }

  async *#resultPages(wire: Wire, id: string, cancelledBecause: string | undefined) {
    let token: string | undefined;
    for (let page = 1; page <= mostPages; page += 1) {
      const from = token === undefined ? '' : `&pagination_token=${encodeURIComponent(token)}`;
      const path = `${this.#batchAt(id)}/results?limit=${rowsOnPage}${from}`;
      const reply = await expectOk(wire, { method: 'GET', path }, this.judge);
      const read = readResultPage(await reply.text(), cancelledBecause);
      yield read;
      if (read.next === undefined) return;
      if (read.next === token) break;
      token = read.next;
    }
    throw new UnknownOutcomeError(`The results of batch ${id} do not come to an end.`);
  }

  #batchAt(id: string): string {
    return `${this.batchesPath}/${encodeURIComponent(id)}`;
  }
}

/** All over again is much traffic for little news: the more has been read, the more has to be new. */
function isWorthReading(finished: number | undefined, read: number): boolean {
  if (finished === undefined) return true;
  return finished > read && (finished <= fewRows || finished >= read * 1.5);
}

function readPage(body: unknown): ListPage {
  const batches = field(body, 'batches');
  const data = Array.isArray(batches)
    ? batches.map((batch: unknown) => ({ ...fields(batch), id: field(batch, 'batch_id') }))
    : undefined;
  return { ...listPage({ data }), next: text(field(body, 'pagination_token')) };
}
