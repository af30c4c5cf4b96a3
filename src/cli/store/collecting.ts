import { messageOf } from '../../base/errors.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { createHttpClient } from '../../http/client.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { inheritedRun, type ResolvedOptions } from '../../options/index.ts';
import { AbandonedRequests } from '../../orchestrator/capture/abandoned-requests.ts';
import { Occurrences } from '../../orchestrator/capture/occurrences.ts';
import { Engine } from '../../orchestrator/engine.ts';
import type { Emit } from '../../orchestrator/events/events.ts';
import type { Batch } from '../../orchestrator/model/batch.ts';
import type { EngineScope } from '../../orchestrator/model/call.ts';
import { errorText } from '../../report/text/error-text.ts';
import { scopeTerms } from '../../scope/engine/scope-terms.ts';
import type { Looked } from '../print/outcome-line.ts';
import { note } from '../print/output.ts';
import type { Reachable } from './reachable.ts';

export interface CollectingOptions {
  readonly ledger: Ledger;
  readonly options: ResolvedOptions;
  readonly reachable: Reachable;
  /** Told of each batch that was looked at, and once more when it is over. */
  onLooked(looked: Looked): Promise<void>;
  readonly emit: Emit;
}

/** How long one round waits to learn what became of a create. */
const patience = 30_000;

/** Works on batches whose programs have ended. Nobody waits for their answers here, and nothing is sent. */
export class Collecting {
  readonly #given: CollectingOptions;
  readonly #engine: Engine;
  readonly #scope: EngineScope;
  /** Batches that live here. */
  readonly #active = new Map<string, Batch>();
  /** Batches that have had their try in this process. */
  readonly #tried = new Set<string>();
  readonly #reports: Promise<void>[] = [];

  static async open(given: CollectingOptions): Promise<Collecting> {
    const { clock, logger, dispatcher } = given.options;
    const engine = await Engine.open({
      ledger: given.ledger,
      isStored: true,
      http: createHttpClient({ clock, dispatcher }),
      clock,
      logger,
      run: inheritedRun() ?? crypto.randomUUID(),
      occurrences: new Occurrences(),
      abandoned: new AbandonedRequests(),
      prune: {},
      webhook: given.options.webhook,
      warn: note,
    });
    return new Collecting(given, engine);
  }

  private constructor(given: CollectingOptions, engine: Engine) {
    this.#given = given;
    this.#engine = engine;
    this.#scope = scopeTerms(given.options, given);
  }

  /** Looks at each batch once; what has ended is collected. */
  async round(): Promise<void> {
    await this.#takeOver();
    await Promise.all([...this.#active.values()].map((batch) => this.#lookOnce(batch)));
  }

  /** Goes on until no batch is open but those that cannot be reached. */
  async untilDone(stopped: AbortSignal): Promise<void> {
    const { ledger, options } = this.#given;
    while (!stopped.aborted) {
      for (const batch of await this.#takeOver()) this.#reportAtEnd(batch);
      const open = await ledger.unfinished();
      // Batches of other processes count, too: a process may end and leave its batches.
      if (!open.some(({ owner }) => owner !== undefined)) break;
      const pause = new AbortController();
      const ending = AbortSignal.any([stopped, pause.signal]);
      const waited = sleep(options.clock, options.poll.minimum, ending).catch(() => undefined);
      await Promise.race([waited, ...[...this.#active.values()].map(({ over }) => over)]);
      pause.abort();
    }
    await Promise.all(this.#reports);
  }

  /** The programs are yet to get the answers, so their runs count as not finished. */
  close(): Promise<void> {
    return this.#engine.close({ finished: false });
  }

  /** Takes over what belongs to nobody. Returns what has come to live here. */
  async #takeOver(): Promise<Batch[]> {
    const { ledger, reachable } = this.#given;
    const taken: Batch[] = [];
    for (const open of await ledger.unfinished()) {
      if (open.owner !== undefined || this.#tried.has(open.token)) continue;
      const reach = await reachable.reach(open);
      if ('obstacle' in reach) continue;
      this.#tried.add(open.token);
      try {
        const batch = await this.#engine.resume(open, { ...reach, scope: this.#scope });
        if (batch === undefined) continue;
        this.#active.set(open.token, batch);
        taken.push(batch);
      } catch (error) {
        await this.#report(open.token, messageOf(error));
      }
    }
    return taken;
  }

  async #lookOnce(batch: Batch): Promise<void> {
    const done = new AbortController();
    const tooLong = sleep(this.#given.options.clock, patience, done.signal).catch(() => undefined);
    await Promise.race([batch.polled.passed, batch.over, tooLong]);
    done.abort();
    while (batch.reading) await batch.reading;
    const { phase } = batch;
    // A batch that could not be read now is left to the next round.
    if (phase.name === 'collecting' && !phase.isUnreadable) await batch.over;
    await this.#report(batch.token, troubleOf(batch));
  }

  #reportAtEnd(batch: Batch): void {
    const reported = batch.over.then(() => {
      this.#active.delete(batch.token);
      return this.#report(batch.token, troubleOf(batch));
    });
    this.#reports.push(reported);
    // `untilDone` rejects with the error when it waits for all reports.
    reported.catch(() => undefined);
  }

  async #report(token: string, trouble: string | undefined): Promise<void> {
    const { ledger, onLooked } = this.#given;
    const batch = await ledger.show(token);
    if (!batch) return;
    const { failed } = await ledger.view.tally(token);
    await onLooked({ batch, failed, ...(trouble !== undefined && { trouble }) });
  }
}

function troubleOf({ phase }: Batch): string | undefined {
  return phase.name === 'over' && phase.answer ? errorText(phase.answer) : undefined;
}
