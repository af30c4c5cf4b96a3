import type { Clock } from '../../base/types.ts';
import type { LeftBatch } from '../../orchestrator/capture/leave-calls.ts';
import { LineGroup } from '../../orchestrator/lines/line-group.ts';
import type { LineBatch, SentLines } from '../../orchestrator/lines/send-lines.ts';
import type { NumberFile } from '../disk/number-file.ts';
import type { Position } from '../input/input-part.ts';
import { Change } from './change.ts';
import type { Chunk } from './chunk.ts';
import { readOpenLines } from './chunk-lines.ts';
import { LineCall, type LineOwner } from './line-call.ts';
import type { MapJobTerms } from './map-job.ts';
import { throwIfUnstored } from './own-error.ts';
import { RealtimeSender } from './send-realtime.ts';

/** Batches tell when they are under way; a look now and then finds those of another process. */
const lookInterval = 1_000;

/** `stopped`: the job ends early. `onLeft`: told of batches that run without their lines in memory. */
export interface AskingTerms
  extends Pick<MapJobTerms, 'job' | 'engine' | 'scope' | 'stopped' | 'onLeft'> {
  /** The row of the ledger of each line. */
  readonly rows: NumberFile;
}

/** Takes the lines of a chunk to their outcomes: asked, left to the ledger while their batches run, asked again. */
export class Asking {
  readonly #terms: AskingTerms;
  readonly #clock: Clock;
  readonly #owner: LineOwner;
  /** A batch is under way, or a line has its outcome. */
  readonly changed = new Change();
  /** Lines that are in memory. */
  linesHeld = 0;

  constructor(terms: AskingTerms) {
    this.#terms = terms;
    const { clock, realtimeConcurrency } = terms.job.options;
    this.#clock = clock;
    const sender = new RealtimeSender(realtimeConcurrency, terms.stopped);
    this.#owner = {
      onSettled: () => this.#settledSoon(),
      send: (line, route) => sender.send(line, route),
    };
  }

  /** Reads a chunk and asks its lines. Resolves when they are with the engine; `done` when all have their outcome. */
  async begin(chunk: Chunk): Promise<{ readonly next: Position; readonly done: Promise<void> }> {
    const { job, engine, scope, rows } = this.#terms;
    const { headers } = job.destination;
    const group = new LineGroup({ scope, headers, size: chunk.size });
    let open = 0;
    const next = await readOpenLines(job, chunk, (line) => {
      open += 1;
      group.add(line);
    });
    // The engine sends a batch again by itself only if it has calls.
    const sent = chunk.isHeld ? undefined : await engine.sendLines(group);
    if (sent) {
      await rows.set(chunk.start.line, sent.rows.subarray(0, next.line - chunk.start.line));
      open -= this.#mark(chunk, sent);
    }
    const calls = open > 0 ? await this.#ask(chunk) : [];
    const batches = sent?.batches ?? [];
    chunk.kept = batches.map(({ answers }) => answers);
    return { next, done: this.#finish(chunk, calls, batches) };
  }

  /** Asks lines again that turned out to have no outcome. */
  async resume(chunk: Chunk): Promise<void> {
    await this.#finish(chunk, await this.#ask(chunk), []);
  }

  /** How many lines of the chunk need no call. */
  #mark(chunk: Chunk, { rows, answered, batches }: SentLines): number {
    rows.forEach((row, place) => {
      if (row > 0) chunk.asked(place);
    });
    for (const place of answered) chunk.done(place);
    let sent = 0;
    for (const { places } of batches) {
      for (const place of places) chunk.sent(place);
      sent += places.length;
    }
    this.linesHeld += sent;
    return answered.length + sent;
  }

  /** Asks the lines of a chunk that are in no batch and have no outcome as calls. */
  async #ask(chunk: Chunk): Promise<LineCall[]> {
    const { job, engine, scope } = this.#terms;
    const { headers } = job.destination;
    chunk.state = 'asking';
    const calls: LineCall[] = [];
    await readOpenLines(job, chunk, ({ place, target, body, occurrence, fresh }) => {
      const sampling = { occurrence, fresh, isLine: true, isBack: chunk.wasAsked(place) } as const;
      const call = new LineCall({ scope, target, headers, body }, sampling, place, this.#owner);
      chunk.sent(place);
      calls.push(call);
      this.linesHeld += 1;
      call.handle = engine.capture(call);
    });
    await engine.flush(scope);
    return calls;
  }

  async #finish(chunk: Chunk, asked: LineCall[], sent: readonly LineBatch[]): Promise<void> {
    const begun = await Promise.all([this.#untilLeft(chunk, asked), this.#untilSent(chunk, sent)]);
    let left = begun.flat();
    if (chunk.hasOpen) left.push(...(await this.#untilLeft(chunk, await this.#ask(chunk))));
    while (left.length > 0) {
      chunk.state = 'waiting';
      this.changed.tell();
      if (await this.#untilOver(chunk, left)) break;
      left = await this.#untilLeft(chunk, await this.#ask(chunk));
    }
    chunk.ready();
    this.changed.tell();
  }

  /** The batches of these that are under way. The lines of others are open again. */
  async #untilSent(chunk: Chunk, batches: readonly LineBatch[]): Promise<LeftLines[]> {
    const found: LeftLines[] = [];
    await Promise.all(
      batches.map(async ({ places, left }) => {
        const batch = await left;
        this.linesHeld -= places.length;
        if (batch) {
          this.#terms.onLeft(batch);
          found.push({ batch, places });
        } else for (const place of places) chunk.asked(place);
        this.changed.tell();
      }),
    );
    return found;
  }

  /** Resolves when no line is in memory any more: the batches that the others are in. */
  async #untilLeft(chunk: Chunk, asked: readonly LineCall[]): Promise<LeftLines[]> {
    const all: LeftLines[] = [];
    let calls = asked;
    for (;;) {
      calls = await this.#settle(chunk, calls);
      if (calls.length === 0) return all;
      if (!chunk.isHeld) {
        const { left, rest } = await this.#leave(chunk, calls);
        all.push(...left);
        calls = rest;
        if (calls.length === 0) return all;
      }
      await this.#changeOrLook();
    }
  }

  /** Takes out the lines that have their outcome. */
  async #settle(chunk: Chunk, calls: readonly LineCall[]): Promise<readonly LineCall[]> {
    // In one look: more of them are settled while their rows are noted.
    const [settled, open]: [LineCall[], LineCall[]] = [[], []];
    for (const call of calls) (call.settled ? settled : open).push(call);
    if (settled.length === 0) return calls;
    for (const { place, answer } of settled) {
      if (answer) throwIfUnstored(answer);
      chunk.done(place);
      if (answer) chunk.answers.set(place, answer);
    }
    await this.#noteRows(chunk, settled);
    this.linesHeld -= settled.length;
    this.changed.tell();
    return open;
  }

  async #leave(
    chunk: Chunk,
    calls: readonly LineCall[],
  ): Promise<{ left: LeftLines[]; rest: readonly LineCall[] }> {
    const byToken = new Map<string, number[]>();
    for (const { handle, place } of calls) {
      const token = handle?.batchToken;
      if (token === undefined) continue;
      const places = byToken.get(token);
      if (places) places.push(place);
      else byToken.set(token, [place]);
    }
    const handles = calls.flatMap(({ handle }) => handle ?? []);
    const { left: batches, staying } = this.#terms.engine.leaveCalls(handles);
    if (batches.length === 0) return { left: [], rest: calls };
    const stay = new Set<unknown>(staying);
    const [rest, gone]: [LineCall[], LineCall[]] = [[], []];
    for (const call of calls) (stay.has(call.handle) ? rest : gone).push(call);
    const goneNow = new Set(gone.map(({ place }) => place));
    await this.#noteRows(chunk, gone);
    this.linesHeld -= gone.length;
    const left = batches.map((batch) => {
      this.#terms.onLeft(batch);
      const places = (byToken.get(batch.token) ?? []).filter((place) => goneNow.has(place));
      return { batch, places: Uint32Array.from(places) };
    });
    return { left, rest };
  }

  /** Whether all lines have their outcome once these batches are over. */
  async #untilOver(chunk: Chunk, left: readonly LeftLines[]): Promise<boolean> {
    await Promise.all(
      left.map(async ({ batch, places }) => {
        await batch.over;
        const { answer } = batch;
        if (answer) throwIfUnstored(answer);
        const isDone = batch.isAnswered || answer !== undefined;
        for (const place of places) {
          if (isDone) chunk.done(place);
          else chunk.asked(place);
          if (answer) chunk.answers.set(place, answer);
        }
        this.changed.tell();
      }),
    );
    const open = left.filter(({ batch }) => !batch.isAnswered && batch.answer === undefined);
    // The engine knows what to do about a batch that was refused as a whole, if its lines are there.
    if (open.some(({ batch }) => !batch.isRetried)) chunk.isHeld = true;
    return open.length === 0;
  }

  async #noteRows(chunk: Chunk, calls: readonly LineCall[]): Promise<void> {
    if (calls.length === 0) return;
    const { rows } = this.#terms;
    const { line } = chunk.start;
    const first = (calls[0] as LineCall).place;
    const last = (calls.at(-1) as LineCall).place;
    const numbers = await rows.get(line + first, last - first + 1);
    for (const { handle, place } of calls) numbers[place - first] = handle?.row ?? 0;
    await rows.set(line + first, numbers);
  }

  #settling = false;

  /** Thousands are settled in one turn: those who wait look once. */
  #settledSoon(): void {
    if (this.#settling) return;
    this.#settling = true;
    setImmediate(() => {
      this.#settling = false;
      this.changed.tell();
    });
  }

  async #changeOrLook(): Promise<void> {
    let timer: unknown;
    const look = new Promise<void>((resolve) => {
      timer = this.#clock.setTimeout(resolve, lookInterval);
    });
    await Promise.race([this.changed.next(), look]);
    this.#clock.clearTimeout(timer);
    this.#terms.stopped.throwIfAborted();
  }
}

/** A batch that runs without its lines in memory, and the places of those lines in their chunk. */
interface LeftLines {
  readonly batch: LeftBatch;
  readonly places: Uint32Array;
}
