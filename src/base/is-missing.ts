import { statSync } from 'node:fs';

/** Whether nothing is there. A file that may not be looked at is there: opening it says why it cannot be used. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
