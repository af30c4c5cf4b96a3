import type { BatchSummary } from '../../ledger/ledger.ts';
import { counted, number } from '../../report/text/summary.ts';

/** How a batch stands after it was looked at. */
export interface Looked {
  readonly batch: BatchSummary;
  /** How many of its requests have an error as their answer. */
  readonly failed: number;
  /** Why it could not be brought to an end. */
  readonly trouble?: string;
}

/** The same in one line. */
export function outcomeLine({ batch, failed, trouble }: Looked): string {
  const { token, provider, model } = batch;
  const said = trouble === undefined ? standing(batch, failed) : `left open: ${trouble}`;
  return `${token}  ${provider} ${model}  ${said}`;
}

function standing(batch: BatchSummary, failed: number): string {
  const { state, count, answered, failure, raw, counts } = batch;
  const left = count - answered;
  const requests = counted(count, 'request');
  switch (state) {
    case 'ended': {
      const why = failure === undefined ? '' : `failed (${failure}), `;
      const errors = failed > 0 ? `, ${number(failed)} with an error` : '';
      const rest = left > 0 ? `, ${number(left)} left to the next run` : '';
      return `${why}${number(answered - failed)} of ${requests} answered${errors}${rest}`;
    }
    case 'refused':
      return `refused (${failure}), ${requests} left to the next run`;
    case 'released':
      return `was never sent, ${requests} left to the next run`;
    case 'accepted': {
      const done = counts ? `, ${number(counts.completed + counts.failed)} done` : '';
      return `under way: ${raw}, ${requests}${done}`;
    }
    default:
      return 'unclear whether the provider has it: collect again in a few minutes';
  }
}
