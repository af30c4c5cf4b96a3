import type { Only } from '../../orchestrator/model/call.ts';
import { warnOnce } from '../../report/warn-once.ts';

/** How many open scopes have this `only`: nested ones inherit it. */
const scopesWith = new Map<Only, number>();

/**
 * Warns about patterns of `only` that chose no call when the last scope that has them ends; a program that
 * calls `process.exit()` ends none of them, so the rest is told then.
 *
 * @returns to be called when the scope ends.
 */
export function watchPatterns(only: Only): () => void {
  if (scopesWith.size === 0) process.on('exit', tellAtExit);
  scopesWith.set(only, (scopesWith.get(only) ?? 0) + 1);
  return () => {
    const others = (scopesWith.get(only) ?? 0) - 1;
    if (others > 0) {
      scopesWith.set(only, others);
      return;
    }
    scopesWith.delete(only);
    if (scopesWith.size === 0) process.off('exit', tellAtExit);
    const complaint = only.complaint?.();
    if (complaint !== undefined) warnOnce(complaint);
  };
}

/** Written to stderr: Node prints no warnings any more. */
function tellAtExit(): void {
  for (const only of scopesWith.keys()) {
    const complaint = only.complaint?.();
    if (complaint !== undefined) process.stderr.write(`batchling: ${complaint}\n`);
  }
}
