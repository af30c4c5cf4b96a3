import { hash } from 'node:crypto';
import { Slice } from '../../concurrency/event-loop.ts';
import { type Part, prepareLine } from '../../orchestrator/capture/prepare.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import type { EngineScope } from '../../orchestrator/model/call.ts';
import { type InputLine, inputStart } from '../input/input-part.ts';
import { readLines } from '../input/read-lines.ts';
import { doubledId, type JobTerms } from '../job/job-terms.ts';
import type { Sample } from '../job/selection.ts';
import type { Columns } from '../job/table-output.ts';
import type { LineRequest } from '../lines/line-format.ts';
import { BadLines, mostTold } from './bad-lines.ts';
import { type Double, Doubles } from './doubles.ts';
import { ExpectedCost } from './expected-cost.ts';

export interface CheckTerms extends Omit<JobTerms, 'total' | 'unfit' | 'chunkLines'> {
  readonly scope: EngineScope;
  /** Chooses lines among those that the selection takes. */
  readonly sample: Sample | undefined;
  readonly stopped: AbortSignal;
  /** Is told the columns of all rows. */
  readonly columns?: Columns | undefined;
}

export interface Checked {
  readonly lines: number;
  /** Lines that the job takes, bad ones included. */
  readonly selected: number;
  readonly bad: BadLines;
  readonly hasDoubles: boolean;
  /** Lines that ask the same as a line before them. */
  readonly same: number;
  readonly cost: ExpectedCost;
}

/** Looks at every line before anything is sent. Memory does not grow with the input. */
export async function checkInput(terms: CheckTerms): Promise<Checked> {
  const { parts, selection, sample, stopped } = terms;
  const checking = new Checking(terms);
  const slice = new Slice();
  let lines = 0;
  try {
    for await (const page of readLines(parts, inputStart, selection.limit, stopped)) {
      for (const line of page.lines) {
        const waiting = checking.add(line);
        if (waiting) await waiting;
      }
      lines = page.next.line;
      await checking.cost.endPage();
      if (slice.isOver) await slice.next();
    }
    if (sample) await priceSample(terms, sample.lines, checking);
    const hasDoubles = await checking.end();
    const { bad, cost, selected, same } = checking;
    return { lines, selected: sample?.lines.size ?? selected, bad, hasDoubles, same, cost };
  } finally {
    await checking.close();
  }
}

/** Which lines are chosen is only known when all were read: their cost takes another reading. */
async function priceSample(
  { parts, stopped }: CheckTerms,
  chosen: ReadonlySet<number>,
  checking: Checking,
): Promise<void> {
  const end = Math.max(-1, ...chosen) + 1;
  for await (const page of readLines(parts, inputStart, end, stopped)) {
    for (const line of page.lines) if (chosen.has(line.number)) checking.price(line);
  }
}

class Checking {
  readonly #terms: CheckTerms;
  readonly bad = new BadLines();
  readonly cost: ExpectedCost;
  selected = 0;
  same = 0;
  readonly #ids: Doubles | undefined;
  readonly #bodies: Doubles;

  constructor(terms: CheckTerms) {
    this.#terms = terms;
    this.cost = new ExpectedCost(terms.options, terms.scope);
    this.#ids = terms.format.hasIds ? new Doubles(terms.folder, 'ids') : undefined;
    this.#bodies = new Doubles(terms.folder, 'bodies');
  }

  add(line: InputLine): Promise<unknown> | undefined {
    const { format, destination, selection, sample, columns } = this.#terms;
    const { number, text } = line;
    const read = format.read(text, number);
    const id = read.id ?? String(number + 1);
    const isTaken = selection.includes(number, format.hasIds ? id : String(number));
    if (isTaken) {
      this.selected += 1;
      sample?.add(number);
    }
    if ('bad' in read) {
      if (isTaken) this.bad.add(line, read.bad);
      return undefined;
    }
    if (read.row) columns?.add(read.row);
    const target = destination.target(read.path);
    if (target === undefined) {
      if (isTaken) this.bad.add(line, `${destination.provider} has no batches at ${read.path}`);
      return undefined;
    }
    const hashed = this.#examine(line, target, read, isTaken);
    const named = this.#ids?.add(hashOf(id), number);
    return named && hashed ? Promise.all([named, hashed]) : (named ?? hashed);
  }

  #examine(
    line: InputLine,
    target: Target,
    request: LineRequest,
    isTaken: boolean,
  ): Promise<void> | undefined {
    const part = this.#partOf(target, request);
    if (typeof part === 'string') {
      if (isTaken) this.bad.add(line, part);
      return undefined;
    }
    if (isTaken && !this.#terms.sample) {
      const tooLarge = this.cost.add(target, part, request.json);
      if (tooLarge !== undefined) this.bad.add(line, tooLarge);
    }
    return this.#bodies.add(part.key, line.number);
  }

  /** Counts the cost of a line that was looked at before. */
  price({ text, number }: InputLine): void {
    const { format, destination } = this.#terms;
    const read = format.read(text, number);
    const target = 'bad' in read ? undefined : destination.target(read.path);
    if ('bad' in read || target === undefined) return;
    const part = this.#partOf(target, read);
    if (typeof part !== 'string') this.cost.add(target, part, read.json);
  }

  /** What a line asks for, or why it cannot be sent. */
  #partOf(target: Target, { body, json }: LineRequest): Part | string {
    const { scope, destination } = this.#terms;
    const ready = prepareLine({ scope, target, headers: destination.headers, body }, json);
    if (typeof ready === 'string') return `it cannot be batched: ${ready}`;
    const [part, ...others] = ready.parts;
    return others.length === 0 ? part : 'it asks for several things at once: write a line for each';
  }

  /** Whether there are identical lines, or doubled ids. */
  async end(): Promise<boolean> {
    const { samples, stopped } = this.#terms;
    let found = false;
    for await (const { line, nth } of this.#bodies.found(stopped)) {
      found = true;
      this.same += 1;
      await samples.set(line, Float64Array.of(nth));
    }
    const doubles: Double[] = [];
    for await (const double of this.#ids?.found(stopped) ?? []) {
      found = true;
      if (doubles.length < mostTold) doubles.push(double);
      else this.bad.addUntold(1);
      await samples.set(double.line, Float64Array.of(doubledId));
    }
    await this.#tellDoubled(doubles);
    await this.cost.end();
    return found;
  }

  /** Where lines with doubled ids stand is not known any more: it takes another reading. */
  async #tellDoubled(doubles: readonly Double[]): Promise<void> {
    if (doubles.length === 0) return;
    const { parts, stopped } = this.#terms;
    const wanted = new Set(doubles.flatMap(({ line, first }) => [line, first]));
    const end = Math.max(...wanted) + 1;
    const found = new Map<number, InputLine>();
    for await (const { lines } of readLines(parts, inputStart, end, stopped)) {
      for (const line of lines) if (wanted.has(line.number)) found.set(line.number, line);
    }
    for (const { line, first } of doubles) {
      this.bad.addDoubled(found.get(line) as InputLine, found.get(first) as InputLine);
    }
  }

  async close(): Promise<void> {
    await this.#ids?.close();
    await this.#bodies.close();
  }
}

function hashOf(id: string): string {
  return hash('sha256', id, 'binary');
}
