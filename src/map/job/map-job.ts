import { BatchlingError } from '../../base/errors.ts';
import type { LeftBatch } from '../../orchestrator/capture/leave-calls.ts';
import type { Engine } from '../../orchestrator/engine.ts';
import type { EngineScope } from '../../orchestrator/model/call.ts';
import { NumberFile } from '../disk/number-file.ts';
import type { Position } from '../input/input-part.ts';
import { Asking } from './asking.ts';
import { Chunk } from './chunk.ts';
import { endOf } from './chunk-lines.ts';
import type { JobTerms } from './job-terms.ts';
import type { Sink } from './outcome.ts';
import { Results } from './results.ts';

/** So many lines may be in memory, whatever a chunk has: some dozen megabytes. */
const mostLinesHeld = 20_000;
/** Fewer, if they are long. */
const mostBytesHeld = 64 * 1024 * 1024;

export interface MapJobTerms {
  readonly job: JobTerms;
  readonly engine: Engine;
  readonly scope: EngineScope;
  readonly sink: Sink;
  /** Where the input goes on. */
  readonly from: Position;
  /** Outcomes are told chunk by chunk as they come, not in the order of the input. */
  readonly unordered: boolean;
  /** Ends as soon as every line is with the provider. */
  readonly detach: boolean;
  readonly stopped: AbortSignal;
  /** Told how far reading is, and of batches. */
  onRead(lines: number): void;
  onLeft(batch: LeftBatch): void;
}

/** Answers that are read again so often are not lost by chance. */
const mostReopened = 10;

/** Lines may be taken out of their batch before its end, and sent another way. */
function isTimed({ options: { deadline, onSlow } }: JobTerms): boolean {
  return deadline !== undefined || onSlow !== 'wait';
}

function lostAnswers(count: number): BatchlingError {
  return new BatchlingError(
    'STORE_UNUSABLE',
    `The ledger has lost the answers of ${count} lines again and again. Look at it with batchling doctor, and run the job again.`,
  );
}

interface Entry {
  readonly number: number;
  readonly chunk: Chunk;
  /** Where its first line without a written outcome is. */
  position: Position;
}

/** Asks all lines of an input, and hands their outcomes on. Memory holds what is on its way to a provider, and no more. */
export class MapJob {
  readonly #terms: MapJobTerms;
  readonly #asking: Asking;
  readonly #results: Results;
  readonly #rows: NumberFile;
  /** Chunks with lines that are not written, in their order. */
  readonly #open: Entry[] = [];
  #isRead = false;
  readonly #failing = new AbortController();
  /** Something went wrong, or the job is stopped from outside. */
  readonly #stopped: AbortSignal;
  readonly #failed: Promise<never>;

  constructor(terms: MapJobTerms) {
    const { job, engine, scope, onLeft } = terms;
    this.#terms = terms;
    const stopped = AbortSignal.any([terms.stopped, this.#failing.signal]);
    this.#stopped = stopped;
    this.#failed = new Promise((_, reject) => {
      const stop = () => reject(stopped.reason);
      if (stopped.aborted) stop();
      else stopped.addEventListener('abort', stop, { once: true });
    });
    // A job that comes to its end waits for it no longer.
    this.#failed.catch(() => undefined);
    this.#rows = new NumberFile(job.folder, 'rows');
    const rows = this.#rows;
    this.#asking = new Asking({ job, engine, scope, rows, stopped, onLeft });
    this.#results = new Results(job, engine, rows);
  }

  /** Something may be written, or read, now. */
  poke(): void {
    this.#asking.changed.tell();
  }

  /** `detached`: lines are still under way. */
  async run(): Promise<'done' | 'detached'> {
    const work = [this.#read(), this.#write()] as const;
    try {
      const [, end] = await Promise.race([Promise.all(work), this.#failed]);
      return end;
    } catch (error) {
      this.#failing.abort(error);
      throw error;
    } finally {
      // Whoever waits looks up, and ends; then no file is in use any more.
      this.poke();
      await Promise.allSettled(work);
      await this.#rows.close();
    }
  }

  async #read(): Promise<void> {
    const { job, sink, from, onRead } = this.#terms;
    const { chunkLines, total } = job;
    let position = from;
    while (position.line < total) {
      this.#stopped.throwIfAborted();
      await this.#room();
      // Chunks begin at the same lines in every run, so that a batch of an earlier one is asked for as a whole.
      const number = Math.floor(position.line / chunkLines);
      const chunk = new Chunk(position, (number + 1) * chunkLines - position.line);
      if (isTimed(job)) chunk.isHeld = true;
      if (sink.isWritten?.(number)) {
        position = await endOf(job, chunk);
        continue;
      }
      const entry = { number, chunk, position };
      this.#open.push(entry);
      const { next, done } = await this.#asking.begin(chunk);
      done.catch((error: unknown) => this.#failing.abort(error));
      position = next;
      onRead(position.line);
    }
    this.#isRead = true;
    this.poke();
  }

  /** Resolves when memory has room for another chunk. */
  async #room(): Promise<void> {
    const { job } = this.#terms;
    const bytes = job.parts.reduce((sum, { file }) => sum + file.size, 0);
    const fitting = Math.floor(mostBytesHeld / (bytes / job.total));
    const most = Math.max(Math.min(mostLinesHeld, fitting), job.chunkLines);
    while (this.#asking.linesHeld > 0 && this.#asking.linesHeld + job.chunkLines > most) {
      const changed = this.#asking.changed.next();
      // After it was listened for: an end that came before wakes nobody.
      this.#stopped.throwIfAborted();
      await changed;
    }
  }

  async #write(): Promise<'done' | 'detached'> {
    const { detach } = this.#terms;
    for (;;) {
      const changed = this.#asking.changed.next();
      this.#stopped.throwIfAborted();
      const entry = this.#writable();
      if (entry) {
        await this.#writeSome(entry);
        continue;
      }
      if (this.#isRead && this.#open.length === 0) return 'done';
      // A chunk whose last lines have just got their answers is not told apart by the lines in memory.
      const isSent = this.#open.every(({ chunk }) => chunk.state !== 'asking');
      if (detach && this.#isRead && isSent) return 'detached';
      await changed;
    }
  }

  /** The next chunk of which something may be written. */
  #writable(): Entry | undefined {
    const { unordered } = this.#terms;
    // A chunk that is written in part comes first: a job goes on behind whole chunks.
    const next = this.#open.find(({ chunk, position }) => !unordered || position !== chunk.start);
    if (next) return next.chunk.state === 'ready' ? next : undefined;
    return this.#open.find(({ chunk }) => chunk.state === 'ready');
  }

  async #writeSome(entry: Entry): Promise<void> {
    const { sink } = this.#terms;
    const { chunk } = entry;
    for await (const { outcomes, next, missing } of this.#results.pages(chunk, entry.position)) {
      if (missing.length > 0) {
        // Their answers are gone from the ledger. In order, what stands before them may be written; see `Results`.
        chunk.reopen(missing);
        if (chunk.reopened > mostReopened) throw lostAnswers(missing.length);
        this.#asking.resume(chunk).catch((error: unknown) => this.#failing.abort(error));
        return;
      }
      await sink.take(outcomes, next);
      entry.position = next;
    }
    chunk.releaseAnswers();
    this.#open.splice(this.#open.indexOf(entry), 1);
    await sink.written?.(entry.number);
    this.poke();
  }
}
