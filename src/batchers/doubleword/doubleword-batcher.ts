import type { Dict, Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { Limits, Plan, Remote, Row } from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import type { BatchList } from '../shared/batch-list.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { isGone } from '../shared/replies.ts';
import { doublewordInfo } from './doubleword-info.ts';
import { judgeDoubleword } from './doubleword-judge.ts';
import { doublewordNotes } from './doubleword-notes.ts';
import { fileRows, readDoublewordLine } from './doubleword-results.ts';

const hour = 3_600_000;

/**
 * Doubleword's batches: OpenAI's, with answers that can be read while a batch runs.
 *
 * @example
 * await batchify(askAll, { completionWindow: '1h', only: 'doubleword' });
 */
export class DoublewordBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = doublewordInfo;
  override readonly notes: ProviderNotes = doublewordNotes;
  protected override readonly judge: ReplyJudge = judgeDoubleword;

  override limits(): Limits {
    return {
      items: 50_000,
      recommendedItems: 10_000,
      bytes: 190_000_000,
      itemBytes: 190_000_000,
      inFlight: 64,
      windows: {
        '24h': { word: '24h', priceShare: 0.5 },
        '1h': { word: '1h', priceShare: 0.75 },
      },
      pollMinimum: 0,
      // It goes on with a batch after its window.
      outlives: 72 * hour,
    };
  }

  /** Two files of one name are refused, and an upload whose answer was lost may have left one. */
  protected override fileName({ token }: Pick<Plan, 'token'>): string {
    return `${token}-${crypto.randomUUID()}.jsonl`;
  }

  protected override createBody(plan: Plan, handle: Handle): object {
    return super.createBody({ ...plan, tags: asHeaders(plan.tags) }, handle);
  }

  /** The metadata of a create can be searched for, so one page shows whether it was accepted. */
  protected override listToFind({ token }: Pick<Plan, 'token'>): BatchList {
    return { ...this.batchList, query: { search: token } };
  }

  protected override toRemote(batch: unknown, wire: Pick<Wire, 'redact'>): Remote {
    const remote = super.toRemote(batch, wire);
    return { ...remote, readable: remote.readable || remote.sources.output !== undefined };
  }

  /**
   * Reads the output file from `cursor` on while the batch runs. A line that is written late may stand before
   * others that were read already, so at the end all is read from the first line on, failed lines included.
   */
  override async *results(
    wire: Wire,
    remote: Remote,
    cursor?: string,
  ): AsyncIterable<readonly Row[]> {
    if (remote.state !== 'ended') {
      yield* this.#readEarly(wire, remote, Number(cursor ?? 0));
      return;
    }
    for (const path of this.resultFiles(remote)) yield* this.#readFile(wire, path, 0);
  }

  async *#readEarly(wire: Wire, { sources }: Remote, from: number): AsyncIterable<readonly Row[]> {
    if (sources.output === undefined) return;
    let line = from;
    try {
      const path = `${this.fileAt(sources.output)}/content`;
      for await (const rows of this.#readFile(wire, path, from)) {
        line += rows.filter((row) => !('unreadable' in row)).length;
        yield [...rows, { cursor: String(line) }];
      }
    } catch (error) {
      // The file may be named before it is there.
      if (!isGone(error)) throw error;
    }
  }

  #readFile(wire: Wire, path: string, from: number): AsyncIterable<readonly Row[]> {
    return fileRows(wire, path, from, this.judge, (line) => this.readLine(line));
  }

  protected override readLine(line: string): Row {
    return readDoublewordLine(line, this.info.requestIdHeader, this.judge);
  }
}

/** Metadata is repeated as headers of every request, so what no header can hold would fail them all. */
function asHeaders(tags: Dict): Dict {
  const isHeader = ([name, value]: [string, string]) =>
    /^[\w.-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value);
  return Object.fromEntries(Object.entries(tags).filter(isHeader));
}
