import type { Emit } from '../../orchestrator/events/events.ts';
import { addToStats, emptyStats } from '../../orchestrator/model/stats.ts';
import { openJobEngine } from '../../scope/engine/engines.ts';
import { scopeTerms } from '../../scope/engine/scope-terms.ts';
import { MapJob, type MapJobTerms } from './map-job.ts';

/** What a job has done so far, for people. */
export interface JobCounts {
  /** Lines that were read to be asked. */
  read: number;
  /** Lines in batches that a provider has accepted, and those that were answered one by one. */
  sent: number;
  paid: number;
  saved: number;
  /** Ordinary calls that were asked again although they may have been paid for. */
  maybePaidTwice: number;
}

export function noCounts(): JobCounts {
  return { read: 0, sent: 0, paid: 0, saved: 0, maybePaidTwice: 0 };
}

export interface RunTerms extends Omit<MapJobTerms, 'engine' | 'scope' | 'onRead' | 'onLeft'> {
  /** The name of the run in the ledger. */
  readonly run: string;
  readonly counts: JobCounts;
  /** Something that a person should know. */
  tell(text: string): void;
}

/** Runs a job with an engine of its own. `stopped` rejects with the reason of the signal, and leaves what is under way. */
export async function runJob(terms: RunTerms): Promise<'done' | 'detached'> {
  const { job, run, counts, stopped } = terms;
  const engine = await openJobEngine(job.options, run);
  let isDone = false;
  try {
    const stats = emptyStats();
    // Sums of batches, whose lines are not in memory when they are answered.
    const batches = { sent: 0, paid: 0, saved: 0 };
    const count = () => {
      counts.sent = batches.sent + stats.flex + stats.realtime;
      counts.paid = batches.paid + stats.dollars.paid;
      counts.saved = batches.saved + stats.dollars.saved;
      counts.maybePaidTwice = stats.maybePaidTwice;
    };
    const emit: Emit = (name, event) => {
      addToStats(stats, name, event);
      if (name.startsWith('batch:')) mapJob.poke();
      if (name === 'batch:submitted') batches.sent += (event as { count: number }).count;
      count();
      if (name === 'notice') tellNotice(event as never, terms.tell);
    };
    const scope = scopeTerms(job.options, { emit });
    const mapJob: MapJob = new MapJob({
      ...terms,
      engine,
      scope,
      onRead: (lines) => {
        counts.read = lines;
      },
      onLeft: (batch) => {
        void batch.over.then(async () => {
          if (stopped.aborted) return;
          const cost = (await engine.reader.show(batch.token))?.cost;
          batches.paid += cost?.paid ?? 0;
          batches.saved += cost?.saved ?? 0;
          count();
        }, nothing);
      },
    });
    const end = await mapJob.run();
    isDone = end === 'done';
    return end;
  } finally {
    if (isDone) await engine.close();
    else await engine.leave();
  }
}

type Told = { readonly notice: string; readonly text?: string };

function tellNotice({ notice, text }: Told, tell: (text: string) => void): void {
  if (text !== undefined && ['trouble', 'over', 'hint'].includes(notice)) tell(text);
}

function nothing(): void {}
