import type Anthropic from '@anthropic-ai/sdk';
import type { GoogleGenAI } from '@google/genai';
import type OpenAI from 'openai';

/** Asks by chat completion and returns the text of the answer. */
export async function ask(
  client: OpenAI,
  content: string,
  model = 'gpt-test',
  options: OpenAI.RequestOptions = {},
): Promise<string> {
  const messages = [{ role: 'user' as const, content }];
  const { choices } = await client.chat.completions.create({ model, messages }, options);
  return choices[0]?.message.content ?? '';
}

/** The same by a response. */
export async function askForResponse(
  client: OpenAI,
  input: string,
  model = 'gpt-test',
): Promise<string> {
  return (await client.responses.create({ model, input })).output_text;
}

/** The same by a message of Anthropic's. */
export async function askClaude(
  client: Anthropic,
  content: string,
  model = 'claude-test',
): Promise<string> {
  const message = await client.messages.create({
    model,
    max_tokens: 64,
    messages: [{ role: 'user', content }],
  });
  const [block] = message.content;
  return block?.type === 'text' ? block.text : '';
}

/** The same by Gemini's `generateContent`. */
export async function askGemini(
  client: GoogleGenAI,
  contents: string,
  model = 'gemini-test',
): Promise<string> {
  return (await client.models.generateContent({ model, contents })).text ?? '';
}

/** What `fetch` needs for a chat completion, without any SDK. */
export function chatRequest(content: string, headers: Record<string, string> = {}) {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-test-key',
      ...headers,
    },
    body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content }] }),
  };
}
