import type { JsonObject } from '../../server/json.ts';
import { listOf, typedEvents } from '../../world/model/stream-pieces.ts';

/** Images told as server-sent events, after as many unfinished ones as were asked for. */
export function streamImages(kind: 'image_generation' | 'image_edit') {
  return ({ data, created, usage, ...common }: JsonObject, request: JsonObject): string => {
    const drafts = Number(request.partial_images ?? 0);
    const events = listOf(data).flatMap(({ b64_json }) => {
      const image = { ...common, b64_json, created_at: created };
      const partial = (_: unknown, index: number) => ({
        type: `${kind}.partial_image`,
        ...image,
        partial_image_index: index,
      });
      return [
        ...Array.from({ length: drafts }, partial),
        { type: `${kind}.completed`, ...image, usage },
      ];
    });
    return typedEvents(events);
  };
}
