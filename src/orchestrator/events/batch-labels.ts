import type { Dict } from '../../base/types.ts';
import type { EngineScope } from '../model/call.ts';

/** A batch has no more tags than one scope may have, so that every provider's metadata has room for them. */
const mostTags = 12;

/**
 * What a batch is called that several scopes share: it is the batch of all of them, so it carries the
 * tags of all of them. Where two say different things, and for the one name there can be, the first wins.
 */
export function labelsOf(scopes: Iterable<EngineScope>): { name?: string; tags: Dict } {
  let name: string | undefined;
  const tags = new Map<string, string>();
  for (const scope of scopes) {
    name ??= scope.name;
    for (const [key, value] of Object.entries(scope.tags)) {
      if (!tags.has(key) && tags.size < mostTags) tags.set(key, value);
    }
  }
  return { ...(name !== undefined && { name }), tags: Object.fromEntries(tags) };
}
