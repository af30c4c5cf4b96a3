import { field, parseJson } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { Position } from '../input/input-part.ts';
import type { LineFormat } from '../lines/line-format.ts';
import type { Progress } from './job-state.ts';
import type { Outcome, Sink } from './outcome.ts';
import type { Output } from './output-file.ts';
import type { TableOutput } from './table-output.ts';

/** Progress is written so often, in milliseconds: what is lost with a killed process is written again for nothing. */
const saveInterval = 1_000;

interface FileSinkTerms {
  readonly format: LineFormat;
  /** The output is a table. */
  readonly table: TableOutput | undefined;
  readonly output: Output;
  readonly errors: Output;
  readonly before: Progress;
  readonly unordered: boolean;
  /** Keeps how far the output is. Missing: the output cannot be resumed. */
  readonly save?: ((progress: Progress) => Promise<void>) | undefined;
}

/** Writes output lines, and failed lines into the file of errors. */
export class FileSink implements Sink {
  readonly #terms: FileSinkTerms;
  #progress: Progress;
  /** Where the output can go on: behind a page, or behind a chunk where output is not in the order of the input. */
  #whole: Progress;
  readonly #chunks: Set<number>;
  #savedAt = performance.now();

  constructor(terms: FileSinkTerms) {
    this.#terms = terms;
    this.#progress = terms.before;
    this.#whole = terms.before;
    this.#chunks = new Set(terms.before.chunks);
  }

  get progress(): Progress {
    return this.#progress;
  }

  async take(outcomes: readonly Outcome[], next: Position): Promise<void> {
    const { output, errors, unordered } = this.#terms;
    let lines = '';
    let failures = '';
    let done = 0;
    let failed = 0;
    for (const outcome of outcomes) {
      const written = this.#written(outcome);
      if (typeof written === 'string') {
        lines += `${written}\n`;
        done += 1;
      } else {
        failures += `${JSON.stringify(written)}\n`;
        failed += 1;
      }
    }
    await this.#writeLines(lines);
    await errors.write(failures);
    const { progress } = this;
    this.#progress = {
      ...progress,
      ...(!unordered && { position: next }),
      output: output.bytes ?? 0,
      errors: errors.bytes ?? 0,
      done: progress.done + done,
      failed: progress.failed + failed,
    };
    if (unordered) return;
    this.#whole = this.#progress;
    await this.#saveSometimes();
  }

  isWritten(chunk: number): boolean {
    return this.#terms.unordered && this.#chunks.has(chunk);
  }

  async written(chunk: number): Promise<void> {
    if (!this.#terms.unordered) return;
    this.#chunks.add(chunk);
    this.#progress = { ...this.#progress, chunks: [...this.#chunks] };
    this.#whole = this.#progress;
    await this.#saveSometimes();
  }

  /** What the output has as a whole is on the disk, and will not be written again. What follows it is cut, and is. */
  async save(): Promise<void> {
    const { output, errors, save } = this.#terms;
    if (output.bytes === undefined || save === undefined) return;
    await output.sync();
    await errors.sync();
    await save(this.#whole);
    this.#savedAt = performance.now();
  }

  async #saveSometimes(): Promise<void> {
    if (performance.now() - this.#savedAt >= saveInterval) await this.save();
  }

  /** A table begins with its header. */
  async #writeLines(lines: string): Promise<void> {
    const { output, table } = this.#terms;
    await output.write(table && output.bytes === 0 ? `${table.header}\n${lines}` : lines);
  }

  /** A line of the output, or of the errors. */
  #written({ number, text, result }: Outcome): string | object {
    const { format, table } = this.#terms;
    const line = number + 1;
    if ('bad' in result) return { line, id: result.id, status: null, error: result.bad };
    const { status } = result;
    const failed = (error: unknown) => ({ line, id: format.idOf(text, number), status, error });
    if (status >= 400) return failed(errorOf(result));
    if (table) {
      const read = format.value(result);
      return 'unfit' in read ? failed(read.unfit) : table.record(text, read.value);
    }
    const written = format.write(text, number, result);
    return 'line' in written ? written.line : failed(written.unfit);
  }
}

/** The provider's own words, without the wrapping. */
export function errorOf({ body }: Answer): unknown {
  const json = parseJson(body);
  return field(json, 'error') ?? json ?? body;
}
