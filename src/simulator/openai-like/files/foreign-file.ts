import { strangersRequests } from '../../world/batches/strangers-requests.ts';
import { newId } from '../../world/random.ts';
import type { OpenAILike } from '../description.ts';
import type { NewFile } from './files.ts';

/** The input file of a stranger's batch. */
export function foreignFile(
  { purpose }: OpenAILike,
  account: string,
  endpoint: string,
  size: number,
): NewFile {
  const name = newId('stranger-');
  const asLine = (custom_id: string, prompt: string) => {
    const messages = [{ role: 'user', content: prompt }];
    const body = { model: 'stranger-model', messages, input: prompt };
    return JSON.stringify({ custom_id, method: 'POST', url: endpoint, body });
  };
  const lines = strangersRequests(size, asLine, name);
  return {
    account,
    filename: `${name}.jsonl`,
    purpose,
    chunks: [Buffer.from(`${lines.join('\n')}\n`)],
  };
}
