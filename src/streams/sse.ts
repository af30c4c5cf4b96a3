import type { JsonObject } from '../base/json.ts';

/** One server-sent event without a name. JSON never holds a raw line break, so one line is enough. */
export function dataEvent(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** One server-sent event that is named like the `type` of its data. */
export function typedEvent(data: { readonly type: string } & JsonObject): string {
  return `event: ${data.type}\n${dataEvent(data)}`;
}
