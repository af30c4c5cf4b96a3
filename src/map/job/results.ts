import type { Answer } from '../../base/types.ts';
import type { Engine } from '../../orchestrator/engine.ts';
import type { NumberFile } from '../disk/number-file.ts';
import type { InputLine, Position } from '../input/input-part.ts';
import { readLines } from '../input/read-lines.ts';
import type { Chunk } from './chunk.ts';
import { jobLine } from './chunk-lines.ts';
import type { JobTerms } from './job-terms.ts';
import type { Outcome } from './outcome.ts';

/** Outcomes of lines that follow each other. */
export interface ResultPage {
  readonly outcomes: readonly Outcome[];
  /** Where the next page begins. */
  readonly next: Position;
  /** Places of lines in this page, behind the outcomes, that have none. */
  readonly missing: readonly number[];
}

/** Reads the outcomes of lines from the ledger. */
export class Results {
  readonly #job: JobTerms;
  readonly #engine: Engine;
  readonly #rows: NumberFile;

  constructor(job: JobTerms, engine: Engine, rows: NumberFile) {
    this.#job = job;
    this.#engine = engine;
    this.#rows = rows;
  }

  /** Pages of a chunk from a position in it on. A page with missing lines is the last one. */
  async *pages(chunk: Chunk, from: Position): AsyncGenerator<ResultPage> {
    const end = Math.min(chunk.start.line + chunk.size, this.#job.total);
    let at = from;
    for await (const { lines, next } of readLines(this.#job.parts, from, end)) {
      const rows = await this.#rows.get(at.line, lines.length);
      const samples = await this.#job.samples.get(at.line, lines.length);
      const stored = rows.filter((row) => row > 0 && !chunk.keptAnswer(row));
      const answers =
        stored.length === 0 ? undefined : await this.#engine.reader.answers([...stored]);
      const outcomes: Outcome[] = [];
      const missing: number[] = [];
      for (const [index, line] of lines.entries()) {
        const place = line.number - chunk.start.line;
        const row = rows[index] as number;
        const known = chunk.keptAnswer(row) ?? answers?.get(row) ?? chunk.answers.get(place);
        const outcome = this.#outcome(line, samples[index] as number, known);
        if (outcome === 'missing') missing.push(place);
        else if (outcome !== 'skipped' && missing.length === 0) outcomes.push(outcome);
      }
      yield { outcomes, next, missing };
      if (missing.length > 0) return;
      at = next;
    }
  }

  #outcome(
    line: InputLine,
    sample: number,
    answer: Answer | undefined,
  ): Outcome | 'skipped' | 'missing' {
    const { number, text } = line;
    // A line with an answer was read before; nearly all of them have one.
    if (answer) return { number, text, result: answer };
    const read = jobLine(this.#job, line, sample);
    if (read === 'skipped') return 'skipped';
    return 'bad' in read ? { number, text, result: { bad: read.bad, id: read.id } } : 'missing';
  }
}
