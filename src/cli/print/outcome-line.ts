import type { BatchSummary } from '../../ledger/ledger.ts';
import { counted, number } from '../../report/text/summary.ts';

/** How a batch stands after it was looked at, in one line. */
export function outcomeLine(batch: BatchSummary, trouble: string | undefined): string {
  const { token, provider, model } = batch;
  const said = trouble === undefined ? standing(batch) : `left open: ${trouble}`;
  return `${token}  ${provider} ${model}  ${said}`;
}

function standing(batch: BatchSummary): string {
  const { state, count, answered, failure, raw, counts } = batch;
  const left = count - answered;
  const requests = counted(count, 'request');
  switch (state) {
    case 'ended': {
      const why = failure === undefined ? '' : `failed (${failure}), `;
      const rest = left > 0 ? `, ${number(left)} left to the next run` : '';
      return `${why}${number(answered)} of ${requests} answered${rest}`;
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
