import type { StreamedBody } from '../../http/wire.ts';
import type { Item, Plan } from '../batcher.ts';
import { inlineBody } from '../shared/inline-body.ts';
import { webhookConfig } from './webhook-config.ts';

/**
 * Batches that travel in their create. Their answers come back in the batch itself, every time somebody
 * looks at it, and so does every other such batch in a list: only small ones go this way.
 */
export const mostInline = { items: 20, bytes: 1_000_000 };

/** What stands around a body inside the create, instead of in a line of a file. */
const around = '{"request":,"metadata":{"key":""}}'.length;
const inLine = '{"key":"","request":}'.length;

/** The body of a create that holds its requests. */
export function inlineCreate(plan: Plan): StreamedBody {
  const name = JSON.stringify(plan.token);
  const webhook = webhookConfig(plan);
  const told = webhook ? `${JSON.stringify(webhook).slice(1, -1)},` : '';
  const opening = `{"batch":{"displayName":${name},${told}"inputConfig":{"requests":{"requests":[`;
  const body = inlineBody(plan, { opening, closing: ']}}}}' }, inlineItem);
  return { ...body, length: body.length + plan.count * (around - inLine) };
}

function inlineItem({ id, body }: Item): string {
  return `{"request":${body},"metadata":{"key":"${id}"}}`;
}
