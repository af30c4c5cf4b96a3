import { createHmac, randomUUID } from 'node:crypto';
import type { Batch } from '../../world/batches/batch.ts';
import type { SimulatedWebhook } from '../../world/settings.ts';

/** Tells the receiver that the batch has ended, as OpenAI does: an event of Standard Webhooks that names the batch alone. */
export function sendEvent({ url, secret }: SimulatedWebhook, { id, ending }: Batch): void {
  const timestamp = Math.floor(Date.now() / 1_000);
  const event = `evt_${randomUUID()}`;
  const body = JSON.stringify({
    ...{ id: event, object: 'event', created_at: timestamp },
    ...{ type: `batch.${ending}`, data: { id } },
  });
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key)
    .update(`${event}.${timestamp}.${body}`)
    .digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': event,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
  // A receiver that is not there misses it: the simulator does not try again.
  fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
}
