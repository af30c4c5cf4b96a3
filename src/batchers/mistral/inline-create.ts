import type { StreamedBody } from '../../http/wire.ts';
import type { Plan } from '../batcher.ts';
import { inlineBody } from '../shared/inline-body.ts';

/** "Fewer than 10,000" by the book. */
const mostRequests = 9_999;
/** The limit is not documented. This is about the size of one image that the chat endpoint takes. */
const mostBytes = 10_000_000;

/** Whether the requests of this batch travel in its create call. */
export function fitsInline({ count, bytes }: Pick<Plan, 'count' | 'bytes'>): boolean {
  return count <= mostRequests && bytes <= mostBytes;
}

/** A create with its requests at the end, streamed. */
export function inlineCreate(plan: Plan, rest: object): StreamedBody {
  const opening = `${JSON.stringify(rest).slice(0, -1)},"requests":[`;
  return inlineBody(plan, { opening, closing: ']}' });
}
