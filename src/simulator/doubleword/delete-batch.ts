import type { ProviderParts } from '../openai-like/description.ts';
import type { Handler } from '../world/provider.ts';

export function deleteBatch({ batches }: ProviderParts): Handler {
  return ({ account }, id) => {
    batches.store.remove(batches.demand(id, account).id);
    return { status: 204, body: '' };
  };
}
