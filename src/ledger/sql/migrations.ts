import { BatchlingError } from '../../base/errors.ts';
import type { OwnerInfo } from '../ledger.ts';
import { unusable } from './unusable.ts';

/** One step of the schema. Forward only; a released one is never edited. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** The steps of one kind of database, which lead to the schema that this version knows. */
export class Migrations {
  readonly newest: number;
  readonly #steps: readonly Migration[];

  constructor(steps: readonly Migration[]) {
    this.#steps = steps;
    this.newest = steps.at(-1)?.version ?? 0;
  }

  /** The statements that lead from a version, 0 for an empty database, to the newest one. */
  after(version: number): string {
    return this.#steps
      .filter((step) => step.version > version)
      .map(({ sql }) => sql)
      .join('');
  }

  /** `stored`: what the table `meta` says. `undefined`: another program has written it. */
  versionOf(stored: unknown, shown: string): number | undefined {
    const version = Number(stored);
    if (!Number.isInteger(version) || version < 1) return undefined;
    if (version <= this.newest) return version;
    throw new BatchlingError(
      'STORE_NEWER',
      `The ledger ${shown} was written by a newer batchling: it has schema ${version}, this one knows ` +
        `schemas up to ${this.newest}. Update batchling, or choose another store.`,
      { facts: { store: shown, schema: version, known: this.newest } },
    );
  }
}

/**
 * For a step of the schema: throws while an owner is here. A program that knows only the old schema would go on
 * with its own statements: newer programs would not find its requests, and would pay for them again.
 */
export function requireUnused(
  here: Pick<OwnerInfo, 'host' | 'pid'> | undefined,
  shown: string,
): void {
  if (!here) return;
  throw unusable(
    shown,
    `process ${here.pid} on ${here.host} works with it and uses an older version of batchling. ` +
      'Run again when that one has ended, or choose another store.',
  );
}
