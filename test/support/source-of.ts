import { chatRequest } from './ask.ts';
import type { Stage } from './stage.ts';

/** Where the answer to a call made right here came from: `plain` when it was not captured. */
export async function sourceOf(
  stage: Stage,
  prompt = 'where from',
  send: typeof fetch = fetch,
): Promise<string> {
  const response = await send(chatUrl(stage), chatRequest(prompt));
  const text = await response.text();
  if (!text.includes('answer to')) throw new Error(text);
  return response.headers.get('x-batchling-source') ?? 'plain';
}

export function chatUrl({ simulator }: Stage): string {
  return `${simulator.baseUrl('openai')}/chat/completions`;
}
