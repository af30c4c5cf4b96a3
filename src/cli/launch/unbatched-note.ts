import { docsPage } from '../../base/docs-page.ts';
import type { RunOutcome } from '../../report/run/run-totals.ts';
import { counted } from '../../report/text/summary.ts';
import { exitCodes } from '../exit-codes.ts';
import type { RunEnvironment } from './run-environment.ts';

/** What is said at the end of a run in which calls were not batched, or none was seen. */
export function unbatchedNote(
  { stats, dryRun, detached }: RunOutcome,
  code: number,
  { requiresBatched, hasGateway }: Pick<RunEnvironment, 'requiresBatched' | 'hasGateway'>,
): { readonly text: string; readonly isFailure: boolean } | undefined {
  const missed = stats.bypassed + stats.realtime + (dryRun ? dryRun.bypassed + dryRun.leftOut : 0);
  if (requiresBatched && missed > 0) {
    const text = `--require-batched: the run has failed, because ${counted(missed, 'LLM call was', 'LLM calls were')} not batched`;
    return { text, isFailure: true };
  }
  // A program that did not start, or was ended by a signal, has another trouble.
  const hasRun = code !== exitCodes.usage && code < exitCodes.notExecutable;
  if (!hasRun || detached || dryRun || stats.captured + stats.bypassed > 0) return undefined;
  return { text: hasGateway ? nothingReached : nothingCaptured, isFailure: false };
}

const nothingCaptured =
  'no LLM call was captured, so nothing was batched. Calls may have gone out at full price unseen: from a Node process ' +
  'started by spawn() (use batchling exec), from a program that is not Node (use batchling exec --gateway), or from a client with ' +
  `a transport of its own (${docsPage('bypasses.md')})`;

const nothingReached =
  'no LLM call was captured, so nothing was batched. A client that does not read its base URL from a variable sends its ' +
  `calls past the gateway, unseen and at full price: give it the value of OPENAI_BASE_URL or the like (${docsPage('gateway.md')})`;
