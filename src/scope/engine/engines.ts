import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/types.ts';
import { version } from '../../base/version.ts';
import { sharedState } from '../../hooks/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { inheritedRun, type ResolvedOptions } from '../../options/index.ts';
import { AbandonedRequests } from '../../orchestrator/capture/abandoned-requests.ts';
import { type OccurrenceCount, Occurrences } from '../../orchestrator/capture/occurrences.ts';
import { OverlappingOccurrences } from '../../orchestrator/capture/overlapping-occurrences.ts';
import type { DryRun, DryRunOptions } from '../../orchestrator/dry-run/dry-run.ts';
import type { Engine } from '../../orchestrator/engine.ts';
import type { CallEngine } from '../../orchestrator/model/call-engine.ts';
import {
  addStats,
  emptyStats,
  type MutableStats,
  type Stats,
} from '../../orchestrator/model/stats.ts';
import { hasRunParent } from '../../report/run/report-to-run.ts';
import { warnOnce } from '../../report/warn-once.ts';
import { discreetLedger } from './discreet-ledger.ts';

/**
 * An engine of this process, shared by all scopes with the same store, `keep` and `dispatcher`, and by all
 * copies of this version of the package. It is opened by the first captured call and closed with the last
 * scope that used it, so that the ledger of a finished program says "finished".
 */
interface SharedEngine {
  /** An engine has these two for all of its scopes; a scope with others gets another engine. */
  readonly keep: ResolvedOptions['keep'];
  readonly dispatcher: ResolvedOptions['dispatcher'];
  users: number;
  /** What the scopes have done that are closed. */
  readonly done: MutableStats;
  /** Closed engines are let go: a program may open thousands of scopes, one after another. */
  engine: Promise<Engine> | undefined;
}

interface StoreUse {
  readonly engines: SharedEngine[];
  /** Counted for the whole run, over engines that come and go. */
  readonly occurrences: OccurrenceCount;
  /** Kept for the whole run, too: a client may come back in a scope of its own. */
  readonly abandoned: AbandonedRequests;
}

interface Run {
  readonly name: string;
  /** Other processes may belong to it. */
  readonly shared: boolean;
}

export interface EngineUse<Used extends CallEngine = CallEngine> {
  readonly engine: Used;
  /** The last user closes the engine. */
  release(stats?: Stats): Promise<void>;
}

/** `single`: a program of one user. `multi`: clients of a gateway, each with its own account. */
export type Tenancy = 'single' | 'multi';

export async function useEngine(
  options: ResolvedOptions,
  tenancy: Tenancy = 'single',
  budgetPerDay = false,
): Promise<EngineUse<Engine>> {
  const run = tenancy === 'single' ? currentRun() : ownRun();
  const store = storeUse(`${version}\n${run.name}\n${options.store}`, tenancy);
  const used = sharedEngine(store, options);
  used.engine ??= openEngine(options, run, store, { tenancy, budgetPerDay });
  used.users += 1;
  const opening = used.engine;
  try {
    const engine = await opening;
    let released: Promise<void> | undefined;
    return {
      engine,
      release: (stats) => {
        if (stats && !released) addStats(used.done, stats);
        released ??= leave(store, used, options);
        return released;
      },
    };
  } catch (error) {
    used.users -= 1;
    // The next scope tries again; one that came meanwhile may have done so already.
    if (used.engine === opening) used.engine = undefined;
    throw error;
  }
}

/**
 * An engine that nobody shares, for a job that names its samples itself: what it lets go of is its own to take again.
 */
export function openJobEngine(options: ResolvedOptions, run: string): Promise<Engine> {
  const store = { engines: [], occurrences: namedByJob, abandoned: new AbandonedRequests() };
  const rules = { tenancy: 'single', budgetPerDay: false } as const;
  return openEngine(options, { name: run, shared: false }, store, rules);
}

const namedByJob: OccurrenceCount = { next: () => 0, giveBack: () => undefined };

/** A dry run in the place of an engine: it looks at a ledger that is there, and makes none. */
export async function useDryRun(
  options: ResolvedOptions,
  hooks: Pick<DryRunOptions, 'entered' | 'stop' | 'roundEnded'>,
): Promise<EngineUse<DryRun>> {
  const { clock, window, store, dryRun } = options;
  const run = currentRun();
  const [{ DryRun }, ledger] = await Promise.all([
    import('../../orchestrator/dry-run/dry-run.ts'),
    openExistingStore(options),
  ]);
  const { occurrences } = storeUse(`${version}\n${run.name}\n${store}`);
  const deep = dryRun === 'deep';
  const rules = { deep, window, clock, run: run.name, occurrences };
  const engine = new DryRun({ ...rules, ledger, ...hooks });
  return {
    engine,
    release: async () => {
      engine.close();
      await ledger?.close();
    },
  };
}

/** Closes all engines of the process although calls wait: a later run continues what they leave. */
export async function leaveEngines(): Promise<void> {
  const stores = [...sharedState().engines.values()] as StoreUse[];
  const engines = stores.flatMap((store) => store.engines.flatMap(({ engine }) => engine ?? []));
  // An engine that could not be opened has told its callers.
  await Promise.allSettled(engines.map(async (opening) => (await opening).leave()));
}

/** An ordinary call of ours looks like one that a client has made past the hooks. */
function outsideOfScopes<T>(send: () => T): T {
  return sharedState().scopes.run({ realtime: true }, send);
}

function storeUse(key: string, tenancy: Tenancy = 'single'): StoreUse {
  const stores = sharedState().engines as Map<string, StoreUse>;
  const known = stores.get(key);
  if (known) return known;
  const occurrences = tenancy === 'multi' ? new OverlappingOccurrences() : new Occurrences();
  const store = { engines: [], occurrences, abandoned: new AbandonedRequests() };
  stores.set(key, store);
  return store;
}

function sharedEngine(
  { engines }: StoreUse,
  { keep, dispatcher, logger }: ResolvedOptions,
): SharedEngine {
  const known = engines.find((one) => one.keep === keep && one.dispatcher === dispatcher);
  if (known) return known;
  closeIdle(engines, logger);
  const shared = { keep, dispatcher, users: 0, done: emptyStats(), engine: undefined };
  engines.push(shared);
  return shared;
}

/** An engine with a dispatcher is kept for the next scope that has it. A program may make one for each scope. */
function closeIdle(engines: SharedEngine[], logger: Logger): void {
  const idle = engines.findIndex(({ users, dispatcher }) => users === 0 && dispatcher);
  const [closing] = idle === -1 ? [] : engines.splice(idle, 1);
  closing?.engine
    ?.then((engine) => engine.close())
    .catch((error: unknown) => logger.warn('batchling could not close', { error }));
}

async function leave(
  { engines }: StoreUse,
  used: SharedEngine,
  { store }: ResolvedOptions,
): Promise<void> {
  used.users -= 1;
  // A ledger in memory would be lost with its engine, and the next scope of this process wants it.
  if (used.users > 0 || store === ':memory:') return;
  engines.splice(engines.indexOf(used), 1);
  // Where a parent shows the run, the parent knows when it is over.
  const isOver = used.done.captured > 0 && !hasRunParent();
  await (await used.engine)?.close({ finished: true }, isOver ? used.done : undefined);
}

async function openEngine(
  options: ResolvedOptions,
  run: Run,
  { occurrences, abandoned }: StoreUse,
  { tenancy, budgetPerDay }: { readonly tenancy: Tenancy; readonly budgetPerDay: boolean },
): Promise<Engine> {
  const { clock, logger, dispatcher, retention, maxStoreSize, keep } = options;
  const opening = openStore(options);
  try {
    const [{ Engine }, { createHttpClient }, { ledger, isStored }] = await Promise.all([
      import('../../orchestrator/engine.ts'),
      import('../../http/client.ts'),
      opening,
    ]);
    return await Engine.open({
      prune: {
        olderThan: retention,
        ...(maxStoreSize !== undefined && { maxBytes: maxStoreSize }),
      },
      ledger: tenancy === 'multi' ? discreetLedger(ledger, logger) : ledger,
      isStored,
      keepsBodies: keep === 'all',
      http: createHttpClient({ clock, dispatcher, apart: outsideOfScopes }),
      clock,
      logger,
      run: run.name,
      occurrences: run.shared ? undefined : occurrences,
      accountsApart: tenancy === 'multi',
      abandoned,
      budgetPerDay,
      webhook: options.webhook,
      ...(!hasTellingParent() && { warn: warnOnce }),
    });
  } catch (error) {
    await closeQuietly(opening);
    throw error;
  }
}

/** The parent of a run sends to the same webhook at its end, and says whether that works: once is enough. */
function hasTellingParent(): boolean {
  return hasRunParent() && Boolean(process.env.BATCHLING_WEBHOOK?.trim());
}

/** No scope uses the ledger; an error of closing would hide the one that counts. */
async function closeQuietly(opening: Promise<OpenedStore>): Promise<void> {
  await opening.then(({ ledger }) => ledger.close()).catch(() => undefined);
}

interface OpenedStore {
  readonly ledger: Ledger;
  /** It outlives the process. */
  readonly isStored: boolean;
}

async function openStore(options: ResolvedOptions): Promise<OpenedStore> {
  const { store, clock, keep, logger, onStoreError } = options;
  const { openLedger } = await import('../../ledger/open-ledger.ts');
  try {
    const ledger = await openLedger(store, { clock, keep, logger, warn: warnOnce });
    return { ledger, isStored: store !== ':memory:' };
  } catch (error) {
    if (onStoreError === 'error') throw error;
    warnOfNone(error);
    return { ledger: await openLedger(':memory:', { clock, keep }), isStored: false };
  }
}

/** `undefined`: there is none, or none that can be used. */
async function openExistingStore(options: ResolvedOptions): Promise<Ledger | undefined> {
  const { store, clock, keep, logger, onStoreError } = options;
  const { openExistingLedger } = await import('../../ledger/open-ledger.ts');
  try {
    return await openExistingLedger(store, { clock, keep, logger, warn: warnOnce });
  } catch (error) {
    if (onStoreError === 'error') throw error;
    warnOfNone(error);
    return undefined;
  }
}

function warnOfNone(error: unknown): void {
  const reason = messageOf(error);
  warnOnce(
    'batchling goes on without a ledger: what is under way when this process ends is lost, and running ' +
      `again pays for it again: ${reason}`,
  );
}

function currentRun(): Run {
  const inherited = inheritedRun();
  return inherited === undefined ? ownRun() : { name: inherited, shared: true };
}

function ownRun(): Run {
  const state = sharedState();
  state.run ??= crypto.randomUUID();
  return { name: state.run, shared: false };
}
