import type { Dict } from '../../base/types.ts';
import type { Plan } from '../batcher.ts';
import { labelOf, withLabel } from './vertex-labels.ts';

/** The lines of the input. Requests of Gemini get a label by which their rows are known. */
export async function* linesOf(plan: Plan, isLabelled: boolean): AsyncIterable<Uint8Array> {
  for await (const group of plan.items()) {
    let text = '';
    for (const { id, before, body, after } of group) {
      const label = isLabelled ? labelOf(id) : undefined;
      text += `${before}${label === undefined ? body : withLabel(body, label)}${after}\n`;
    }
    yield Buffer.from(text);
  }
}

const longest = 63;

/** The run's name and tags as labels, in letters that labels may have. */
export function jobLabels(tags: Dict): Dict {
  const lowered = (text: string) => text.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  const labels = Object.entries(tags).map(([name, value]) => [
    `batchling-${lowered(name)}`.slice(0, longest),
    lowered(value).slice(0, longest),
  ]);
  return Object.fromEntries(labels);
}
