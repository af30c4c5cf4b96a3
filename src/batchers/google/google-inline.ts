import type { StreamedBody } from '../../http/wire.ts';
import type { Item, Plan } from '../batcher.ts';

/**
 * Batches that travel in their create. Their answers come back in the batch itself, every time somebody
 * looks at it, and so does every other such batch in a list: only small ones go this way.
 */
export const mostInline = { items: 20, bytes: 1_000_000 };

const closing = ']}}}}';
/** What stands around a body inside the create, instead of in a line of a file. */
const around = '{"request":,"metadata":{"key":""}}'.length;
const inLine = '{"key":"","request":}'.length;

/** The body of a create that holds its requests. */
export function inlineCreate(plan: Plan): StreamedBody {
  const name = JSON.stringify(plan.token);
  const opening = `{"batch":{"displayName":${name},"inputConfig":{"requests":{"requests":[`;
  const commas = plan.count - 1;
  const items = plan.bytes + plan.count * (around - inLine) + commas;
  return {
    length: opening.length + items + closing.length,
    async *chunks() {
      let before = opening;
      for await (const group of plan.items()) {
        let part = '';
        for (const item of group) {
          part += `${before}${inlineItem(item)}`;
          before = ',';
        }
        yield Buffer.from(part);
      }
      yield Buffer.from(closing);
    },
  };
}

function inlineItem({ id, body }: Item): string {
  return `{"request":${body},"metadata":{"key":"${id}"}}`;
}
