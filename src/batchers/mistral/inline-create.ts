import type { StreamedBody } from '../../http/wire.ts';
import type { Plan } from '../batcher.ts';

/** "Fewer than 10,000" by the book. */
const mostRequests = 9_999;
/** Not documented: about what one image may have that the chat endpoint takes. */
const mostBytes = 10_000_000;

/** Whether the requests of this batch travel in its create call. */
export function fitsInline({ count, bytes }: Pick<Plan, 'count' | 'bytes'>): boolean {
  return count <= mostRequests && bytes <= mostBytes;
}

const closing = ']}';

/** A create with its requests at the end, streamed. */
export function inlineCreate(plan: Plan, rest: object): StreamedBody {
  const opening = `${JSON.stringify(rest).slice(0, -1)},"requests":[`;
  const commas = plan.count - 1;
  return {
    length: Buffer.byteLength(opening) + plan.bytes + commas + closing.length,
    async *chunks() {
      let before = opening;
      for await (const group of plan.items()) {
        let part = '';
        for (const item of group) {
          part += `${before}${item.before}${item.body}${item.after}`;
          before = ',';
        }
        yield Buffer.from(part);
      }
      yield Buffer.from(closing);
    },
  };
}
