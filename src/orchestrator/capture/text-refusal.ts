import type { Route } from '../../batchers/batcher.ts';
import type { CapturedCall } from '../model/call.ts';

/** No model, base or header that a provider knows is as long. */
const mostCharacters = 2_000;

/** Control characters, and halves of surrogate pairs: not every ledger can store them. */
const unstorable = /[\p{Cc}\p{Cs}]/u;

/**
 * Why a call cannot have a row in the ledger. It is refused by itself, before it shares a transaction with
 * the calls of others.
 */
export function textRefusal({ target }: CapturedCall, route: Route): string | undefined {
  const { endpoint, model, partition = '', batchHeaders } = route;
  const texts = { model, endpoint, base: target.wireBase, partition, ...batchHeaders };
  for (const [name, text] of Object.entries(texts)) {
    const why = reason(text);
    if (why) return `The call cannot be batched: its ${name} ${why}.`;
  }
  return undefined;
}

function reason(text: string): string | undefined {
  if (text.length > mostCharacters) {
    return `has ${text.length} characters, and the ledger takes at most ${mostCharacters}`;
  }
  return unstorable.test(text) ? 'has a control character or half a character' : undefined;
}
