import type { OwnerInfo } from '../ledger.ts';

export interface OwnerInfoRow extends Pick<OwnerInfo, 'run' | 'host' | 'pid'> {
  /** JSON. */
  readonly troubles: string | null;
}

export function ownerInfo({ run, host, pid, troubles }: OwnerInfoRow): OwnerInfo {
  return { run, host, pid, ...(troubles !== null && { troubles: JSON.parse(troubles) }) };
}

/** The value of `owner.troubles`. */
export function storedTroubles(troubles: readonly string[]): string | null {
  return troubles.length > 0 ? JSON.stringify(troubles) : null;
}
