import { newId } from '../../world/random.ts';
import type { OpenAILike } from '../description.ts';
import type { NewFile } from './files.ts';

/** The input file of a stranger's batch: as many lines, other custom ids. */
export function foreignFile(
  { purpose }: OpenAILike,
  account: string,
  endpoint: string,
  size: number,
): NewFile {
  const prefix = newId('stranger-');
  const lines = Array.from({ length: size }, (_, index) => {
    const prompt = `a stranger's question ${index}`;
    const messages = [{ role: 'user', content: prompt }];
    const body = { model: 'stranger-model', messages, input: prompt };
    return JSON.stringify({ custom_id: `${prefix}-${index}`, method: 'POST', url: endpoint, body });
  });
  return {
    account,
    filename: `${prefix}.jsonl`,
    purpose,
    chunks: [Buffer.from(`${lines.join('\n')}\n`)],
  };
}
