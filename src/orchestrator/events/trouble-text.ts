import { formatDuration } from '../../base/duration.ts';
import { deniedPatience, unreachablePatience } from '../../concurrency/patience.ts';
import type { TroubleKind } from './trouble-kind.ts';

/** What was to be done: send a batch, find one again, look at it, or read its results. */
export type Step = 'send' | 'find' | 'poll' | 'read';

/** One line: what is wrong, and what is done about it. */
export function troubleText(trouble: TroubleKind, host: string, step: Step): string {
  const { kind, said, retryAfter } = trouble;
  if (kind === 'unreachable') return `cannot reach ${host} (${said}); ${whatIsDone(step)}`;
  if (kind === 'denied')
    return `${host} refuses the API key (${said}); ${whatIsDoneIfDenied(step)}`;
  if (kind === 'busy' && retryAfter) {
    return `${host} asks us to wait ${formatDuration(retryAfter)} (${said}); ${whatIsDone(step)}`;
  }
  return `${host} answers ${said}, again and again; ${whatIsDone(step)}`;
}

export function overText(kind: TroubleKind['kind'], host: string, after: number): string {
  const time = formatDuration(Math.round(after / 1_000) * 1_000);
  if (kind === 'unreachable') return `${host} can be reached again, after ${time}`;
  if (kind === 'denied') return `${host} accepts the API key again, after ${time}`;
  return `${host} answers again, after ${time}`;
}

function whatIsDone(step: Step): string {
  if (step === 'send') {
    return `trying again for up to ${formatDuration(unreachablePatience)}. Nothing is lost`;
  }
  if (step === 'find') return 'looking again until it is known. Nothing is sent twice';
  return 'trying again until it works. Batches under way go on, no answer is lost';
}

function whatIsDoneIfDenied(step: Step): string {
  const patience = formatDuration(deniedPatience);
  const after = `asking again for up to ${patience}, then the waiting calls get this error.`;
  return step === 'find'
    ? `${after} Nothing is sent twice`
    : `${after} The batch goes on: run the program again with a key that works to collect it`;
}
