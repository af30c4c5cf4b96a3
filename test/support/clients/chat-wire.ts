import type { AskOptions } from './client-cases.ts';

/** A chat completion for clients that know nothing of providers: where, what, and who asks. */
export function chatCall(content: string, { simulator }: Pick<AskOptions, 'simulator'>) {
  return {
    url: `${simulator.baseUrl('openai')}/chat/completions`,
    json: { model: 'gpt-test', messages: [{ role: 'user', content }] },
    headers: { authorization: 'Bearer sk-test-key' },
  };
}

/** The text of a chat completion, given as an object or as JSON. */
export function chatText(completion: unknown): string {
  const body: unknown = typeof completion === 'string' ? JSON.parse(completion) : completion;
  const { choices } = body as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}

/** What a client that does not throw at a bad status is made to throw. */
export class StatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The answer has the status ${status}`);
    this.status = status;
  }
}

export function statusOfStatusError(error: unknown): number | undefined {
  return error instanceof StatusError ? error.status : undefined;
}

export const rejoins =
  'It rejects by itself at its own timeout. The request stays in its batch, and asking again ' +
  're-joins it instead of paying twice.';
