import { randomUUID } from 'node:crypto';
import type { Clock, Logger } from '../../base/types.ts';
import { nextTurn } from '../../concurrency/event-loop.ts';
import type { Wire } from '../../http/wire.ts';
import type { EngineScope } from '../model/call.ts';
import type { Notice, WaitFacts } from './events.ts';
import { type TroubleKind, troubleKind } from './trouble-kind.ts';
import { overText, type Step, troubleText } from './trouble-text.ts';

/** A wait of the same kind is not told again before this has passed. */
const toldFor = 10 * 60_000;

/** An account at one base that has trouble, and the scopes that have something there. */
export interface Concerned {
  readonly wire: Wire;
  readonly scopes: Iterable<EngineScope>;
}

/** One kind of trouble of an account, from its first failure until a step works again. */
interface Trouble {
  readonly kind: TroubleKind['kind'];
  readonly since: number;
  readonly steps: Set<Step>;
  failures: number;
  notice: Extract<Notice, { notice: 'trouble' }> | undefined;
  readonly told: Set<EngineScope>;
}

interface Wait {
  waiters: number;
  toldAt: number;
  notice: Extract<Notice, { notice: 'trouble' }>;
  readonly told: Set<EngineScope>;
}

/**
 * Tells people what is in the way at a provider, and when it is over: once for each account and kind of
 * trouble, whatever the number of batches that meet it. Nothing is decided here.
 */
export class Troubles {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #troubles = new Map<Wire, Map<TroubleKind['kind'], Trouble>>();
  readonly #waits = new Map<string, Wait>();
  readonly #failures = new Map<Step, number>();
  readonly #onChange: (texts: readonly string[]) => void;

  /** `onChange` hears what is in the way now, each time that is something else. */
  constructor(clock: Clock, logger: Logger, onChange: (texts: readonly string[]) => void) {
    this.#clock = clock;
    this.#logger = logger;
    this.#onChange = onChange;
  }

  /** A step has failed and will be tried again. */
  met({ wire, scopes }: Concerned, step: Step, error: unknown): void {
    this.#failures.set(step, this.failuresOf(step) + 1);
    const kind = troubleKind(error);
    if (kind === undefined) return;
    const trouble = this.#trouble(wire, kind);
    trouble.steps.add(step);
    trouble.failures += 1;
    // A step has one kind of trouble at a time.
    this.#passed(wire, step, trouble);
    if (trouble.notice === undefined) {
      if (trouble.failures < kind.after) return;
      const text = wire.redact(troubleText(kind, hostOf(wire), step));
      trouble.notice = { ...this.#notice(text), kind: kind.kind };
      this.#changed();
    }
    tell(scopes, trouble.told, trouble.notice);
  }

  /** How often a step has failed so far. */
  failuresOf(step: Step): number {
    return this.#failures.get(step) ?? 0;
  }

  /** A step has worked. */
  passed(wire: Wire, step: Step): void {
    this.#passed(wire, step);
  }

  /** Tells of a wait that is not over at once. `what` tells one kind of wait from another. */
  async whileWaiting<T>(
    { wire, scopes, waits }: Concerned & { readonly waits: WaitFacts },
    what: string,
    text: () => string,
    waiting: Promise<T>,
  ): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    waiting.then(over, over);
    await nextTurn();
    if (isOver) return waiting;
    const key = `${what} ${wire.base}`;
    const wait = this.#wait(key, waits, () => wire.redact(text()));
    wait.waiters += 1;
    if (wait.waiters === 1) this.#changed();
    tell(scopes, wait.told, wait.notice);
    try {
      return await waiting;
    } finally {
      wait.waiters -= 1;
      if (wait.waiters === 0) {
        tell(wait.told, undefined, { notice: 'over', id: wait.notice.id });
        wait.told.clear();
        this.#changed();
      }
    }
  }

  #passed(wire: Wire, step: Step, except?: Trouble): void {
    const troubles = this.#troubles.get(wire);
    if (troubles === undefined) return;
    for (const trouble of troubles.values()) {
      if (trouble === except) continue;
      trouble.steps.delete(step);
      // Any answer shows that the provider can be reached.
      if (trouble.steps.size > 0 && trouble.kind !== 'unreachable') continue;
      troubles.delete(trouble.kind);
      if (trouble.notice) this.#over(wire, trouble, trouble.notice.id);
    }
    if (troubles.size === 0) this.#troubles.delete(wire);
  }

  #over(wire: Wire, { kind, since, told }: Trouble, id: string): void {
    const text = overText(kind, hostOf(wire), this.#clock.now() - since);
    this.#logger.info(`batchling: ${text}`);
    tell(told, undefined, { notice: 'over', id, text });
    this.#changed();
  }

  #changed(): void {
    const troubles = [...this.#troubles.values()].flatMap((kinds) => [...kinds.values()]);
    const waits = [...this.#waits.values()].filter(({ waiters }) => waiters > 0);
    const texts = [...troubles, ...waits].flatMap(({ notice }) => (notice ? [notice.text] : []));
    this.#onChange([...new Set(texts)]);
  }

  #trouble(wire: Wire, { kind }: TroubleKind): Trouble {
    const troubles = this.#troubles.get(wire) ?? new Map<TroubleKind['kind'], Trouble>();
    this.#troubles.set(wire, troubles);
    const known = troubles.get(kind);
    if (known) return known;
    const since = this.#clock.now();
    const trouble: Trouble = {
      kind,
      since,
      steps: new Set(),
      failures: 0,
      notice: undefined,
      told: new Set(),
    };
    troubles.set(kind, trouble);
    return trouble;
  }

  #wait(key: string, waits: WaitFacts, text: () => string): Wait {
    const now = this.#clock.now();
    const known = this.#waits.get(key);
    if (known && (known.waiters > 0 || now - known.toldAt < toldFor)) return known;
    const notice = { ...this.#notice(text()), waits };
    const wait = { waiters: 0, toldAt: now, notice, told: new Set<never>() };
    this.#waits.set(key, wait);
    return wait;
  }

  #notice(text: string): Extract<Notice, { notice: 'trouble' }> {
    this.#logger.warn(`batchling: ${text}`);
    // Unique over all engines: the display, which tells each of them once, is one for the process.
    return { notice: 'trouble', id: randomUUID(), text };
  }
}

/** `told`: the scopes that have heard it already; they are left out. */
function tell(
  scopes: Iterable<EngineScope>,
  told: Set<EngineScope> | undefined,
  notice: Notice,
): void {
  for (const scope of scopes) {
    if (told?.has(scope)) continue;
    told?.add(scope);
    scope.emit('notice', notice);
  }
}

function hostOf({ base }: Wire): string {
  return new URL(base).host;
}
