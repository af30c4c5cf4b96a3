import { existsSync, readdirSync } from 'node:fs';

/** An engine has a lock file beside its ledger until it is closed. */
export function isEngineClosed(store: string): boolean {
  const locks = `${store}.owners`;
  return !existsSync(locks) || readdirSync(locks).length === 0;
}
