import type { StreamedBody } from '../../http/wire.ts';
import type { Plan } from '../batcher.ts';

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
  return opening.length + closing.length + Math.max(0, items - 1);
}

/**
 * The body of a create that holds the items themselves.
 *
 * @example
 * const body = inlineBody(plan, { opening: '{"requests":[', closing: ']}' });
 */
export function inlineBody(plan: Plan, frame: InlineFrame): StreamedBody {
  return {
    length: plan.bytes + inlineFrameBytes(frame, plan.count),
    async *chunks() {
      let before = frame.opening;
      for await (const group of plan.items()) {
        let part = '';
        for (const item of group) {
          part += `${before}${item.before}${item.body}${item.after}`;
          before = ',';
        }
        yield Buffer.from(part);
      }
      yield Buffer.from(frame.closing);
    },
  };
}
