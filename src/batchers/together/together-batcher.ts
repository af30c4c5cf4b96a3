import { field, text } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import { multipart } from '../../http/multipart.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import type { Envelope, Limits, Plan, Remote, Route, Row } from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import type { BatchList } from '../shared/batch-list.ts';
import { judgePlace } from '../shared/judge-reply.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { expectOk, okReply } from '../shared/replies.ts';
import { idOf, type ListPage, listPage } from '../shared/reply-shapes.ts';
import { isRedirect } from '../shared/result-reply.ts';
import { priceShareOf } from './together-discounts.ts';
import { togetherInfo } from './together-info.ts';
import { togetherNotes } from './together-notes.ts';
import { toTogetherRemote } from './together-remote.ts';
import { readTogetherLine } from './together-results.ts';
import { putFile, uploadPlace } from './together-upload.ts';

const hour = 3_600_000;

/**
 * Together AI: OpenAI's files and batches, with uploads to a signed URL, bare lines, creates in an envelope,
 * and progress in percent.
 *
 * @example
 * class OurTogetherBatcher extends TogetherBatcher {
 *   override readonly info = { ...togetherInfo, name: 'ours', hosts: ['together.example.com'] };
 * }
 */
export class TogetherBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = togetherInfo;
  override readonly notes: ProviderNotes = togetherNotes;
  protected override get batchList(): BatchList {
    return { ...super.batchList, limit: null, readPage };
  }

  protected override toRemote(batch: unknown, wire: Pick<Wire, 'redact'>, count?: number): Remote {
    return toTogetherRemote(batch, wire, count);
  }

  override limits({ model }: Pick<Route, 'model'>): Limits {
    return {
      items: 50_000,
      recommendedItems: 10_000,
      // 100 MB by the book; whether that means 10^6 or 2^20 is not said, and some head-room is free.
      bytes: 95_000_000,
      itemBytes: 95_000_000,
      tokens: 30_000_000_000,
      inFlight: 64,
      windows: { '24h': { word: '24h', priceShare: priceShareOf(model) } },
      pollMinimum: 30_000,
      outlives: 76 * hour,
    };
  }

  override envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","body":`, after: '}' };
  }

  /**
   * Uploads as the official SDK does: the first request describes the file, in its query and in its body, and is
   * redirected to where the bytes go. A server that redirects nobody gets all in one form instead.
   */
  protected override async upload(wire: Wire, plan: Plan, file: StreamedBody): Promise<Handle> {
    const description = new URLSearchParams([
      ['file_name', nameOf(plan)],
      ['file_type', 'jsonl'],
      ['purpose', 'batch-api'],
    ]).toString();
    const request = {
      method: 'POST',
      path: `${this.filesPath}?${description}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: description,
    } as const;
    const reply = await wire.send(request);
    if (!isRedirect(reply)) {
      const told = await okReply(wire, request, reply, judgePlace(this.judge));
      idOf(await told.json(), 'a file');
      return this.#uploadForm(wire, plan, file);
    }
    const place = await uploadPlace(wire, reply);
    await putFile(wire, place, file);
    return { fileId: place.fileId };
  }

  async #uploadForm(wire: Wire, plan: Plan, file: StreamedBody): Promise<Handle> {
    const fields = [
      ['purpose', 'batch-api'],
      ['file_name', nameOf(plan)],
      ['file_type', 'jsonl'],
    ] as const;
    const { contentType, body } = multipart(fields, {
      field: 'file',
      filename: nameOf(plan),
      contentType: 'application/jsonl',
      body: file,
    });
    const headers = { 'content-type': contentType };
    const request = { method: 'POST', path: `${this.filesPath}/upload`, headers, body } as const;
    const reply = await expectOk(wire, request, judgePlace(this.judge));
    return { fileId: idOf(await reply.json(), 'a file') };
  }

  /** There is no metadata: the batch is found again by its file. */
  protected override createBody(plan: Plan, handle: Handle): object {
    return {
      endpoint: plan.route.endpoint,
      input_file_id: handle.fileId,
      completion_window: plan.completionWindow,
    };
  }

  /** `{ job, warning }`. A warning without a job says why there is none. */
  protected override createdBatch(body: unknown, wire: Pick<Wire, 'redact'>): unknown {
    const job = field(body, 'job') ?? undefined;
    const warning = text(field(body, 'warning'));
    if (job === undefined && warning !== undefined && field(body, 'id') === undefined) {
      throw this.#refused(wire.redact(warning));
    }
    return job ?? body;
  }

  #refused(message: string): RefusedError {
    const headers = { 'content-type': 'application/json' };
    const body = this.errorBody('invalid_request_error', message);
    const answer = { status: 400, headers, body };
    return new RefusedError({ code: 'warning', message, meaning: 'refused', next: 'fail', answer });
  }

  protected override readLine(line: string): Row {
    return readTogetherLine(line, this.info.requestIdHeader, this.judge);
  }
}

/** The list of all batches is a bare array. */
function readPage(body: unknown): ListPage {
  return listPage({ data: body });
}

function nameOf({ token }: Plan): string {
  return `${token}.jsonl`;
}
