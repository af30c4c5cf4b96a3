import type { Handle } from '../base/types.ts';
import type { StreamedBody, Wire } from '../http/wire.ts';
import { Batcher, type Plan, type Remote, type Row } from './batcher.ts';
import { resultReply } from './shared/result-reply.ts';
import { resultRows } from './shared/result-rows.ts';

/**
 * Batchers whose requests are written to a file and processed in bulk. The template: stage = upload
 * the lines, results = read every result file line by line.
 */
export abstract class FileBatcher extends Batcher {
  /** Sends the file; the handle names it. */
  protected abstract upload(wire: Wire, plan: Plan, file: StreamedBody): Promise<Handle>;
  /** Every result file of this batch: its path, or its URL where the provider names one. */
  protected abstract resultFiles(remote: Remote): readonly string[];
  /** One line of a result file. */
  protected abstract readLine(line: string): Row;

  override canCreateFrom(handle: Handle): boolean {
    return Object.keys(handle).length > 0;
  }

  /** One line break per item. */
  override frameBytes(count: number): number {
    return count;
  }

  override stage(wire: Wire, plan: Plan): Promise<Handle> {
    return this.upload(wire, plan, {
      length: plan.bytes + this.frameBytes(plan.count),
      chunks: () => lines(plan),
    });
  }

  override async *results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    for (const path of this.resultFiles(remote)) {
      const reply = await resultReply(wire, path, this.judge);
      yield* resultRows(reply, (line) => this.readLine(line));
    }
  }
}

async function* lines(plan: Plan): AsyncIterable<Uint8Array> {
  for await (const group of plan.items()) {
    let text = '';
    for (const item of group) text += `${item.before}${item.body}${item.after}\n`;
    yield Buffer.from(text);
  }
}
