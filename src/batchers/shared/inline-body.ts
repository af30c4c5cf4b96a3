import type { StreamedBody } from '../../http/wire.ts';
import type { Item, Plan } from '../batcher.ts';

/** What stands around the items of a batch whose requests travel in the create call. */
export interface InlineFrame {
  readonly opening: string;
  readonly closing: string;
}

/**
 * The brackets, and a comma between two items.
 *
 * @example
 * inlineFrameBytes({ opening: '[', closing: ']' }, 3); // 4
 */
export function inlineFrameBytes({ opening, closing }: InlineFrame, items: number): number {
  return Buffer.byteLength(opening + closing) + Math.max(0, items - 1);
}

/**
 * The body of a create that holds the items themselves. Its length is that of items as they stand in lines.
 *
 * @example
 * const body = inlineBody(plan, { opening: '{"requests":[', closing: ']}' });
 */
export function inlineBody(plan: Plan, frame: InlineFrame, print = lineOf): StreamedBody {
  return {
    length: plan.bytes + inlineFrameBytes(frame, plan.count),
    async *chunks() {
      let before = frame.opening;
      for await (const group of plan.items()) {
        let part = '';
        for (const item of group) {
          part += `${before}${print(item)}`;
          before = ',';
        }
        yield Buffer.from(part);
      }
      yield Buffer.from(frame.closing);
    },
  };
}

function lineOf({ before, body, after }: Item): string {
  return `${before}${body}${after}`;
}
