import { createHttpClient } from '../../http/client.ts';
import type { OpenBatch } from '../../ledger/ledger.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { counted } from '../../report/text/summary.ts';
import type { DoneJson } from '../../ui/api-types.ts';
import type { PageActions } from '../../ui/page.ts';
import { type Looked, outcomeLine } from '../print/outcome-line.ts';
import { cancelOne } from './cancelling.ts';
import { Collecting } from './collecting.ts';
import { findBatch } from './find-batch.ts';
import type { NamedVariables } from './find-credential.ts';
import { requireLedger, withLedger } from './open-store.ts';
import { Reachable } from './reachable.ts';

/** What the page may change, done as the commands `cancel` and `collect` do it. */
export class PageWriter implements PageActions {
  readonly #options: ResolvedOptions;
  readonly #named: NamedVariables;
  /** One round at a time: a second reader waits for the same. */
  #collecting: Promise<DoneJson> | undefined;

  constructor(options: ResolvedOptions, named: NamedVariables) {
    this.#options = options;
    this.#named = named;
  }

  async cancel(id: string): Promise<DoneJson> {
    const { clock, dispatcher } = this.#options;
    const ledger = await requireLedger(this.#options);
    const http = createHttpClient({ clock, dispatcher });
    try {
      return await withLedger(ledger, async () => {
        const batch = await findBatch(ledger, id);
        const open = (await ledger.unfinished()).find(({ token }) => token === batch.token);
        const reachable = new Reachable(ledger, this.#options, this.#named);
        const { text, outcome } = await cancelOne({ ledger, http, reachable }, batch, open);
        return {
          text: `${batch.token} ${/[.!?]$/.test(text) ? text : `${text}.`}`,
          failed: outcome === 'failed',
        };
      });
    } finally {
      await http.close();
    }
  }

  collect(): Promise<DoneJson> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  async #collect(): Promise<DoneJson> {
    const ledger = await requireLedger(this.#options);
    const options = this.#options;
    const reachable = new Reachable(ledger, options, this.#named);
    const looked = new Map<string, Looked>();
    const onLooked = async (one: Looked) => void looked.set(one.batch.token, one);
    // Closing it closes the ledger.
    const collecting = await Collecting.open({
      ledger,
      options,
      reachable,
      onLooked,
      emit: () => undefined,
    });
    let open: readonly OpenBatch[];
    try {
      open = await ledger.unfinished();
      await collecting.round();
    } finally {
      await collecting.close();
    }
    const all = [...looked.values()];
    const lines = all.map(outcomeLine);
    const obstacles = reachable.obstacles();
    const none =
      open.length === 0
        ? 'No batch is open: there is nothing to collect.'
        : obstacles.length > 0
          ? 'No batch could be collected.'
          : 'No batch is left to collect: all that are open belong to programs that run.';
    const head = all.length > 0 ? `Looked at ${counted(all.length, 'batch', 'batches')}.` : none;
    const failed = obstacles.length > 0 || all.some(({ trouble }) => trouble !== undefined);
    return { text: [head, ...lines, ...obstacles].join('\n'), failed };
  }
}
