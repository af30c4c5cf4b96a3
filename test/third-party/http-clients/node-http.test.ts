import { request } from 'node:http';
import {
  chatCall,
  chatText,
  StatusError,
  statusOfStatusError,
} from '../../support/clients/chat-wire.ts';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

/** Sends a chat completion, with `more` in its body, and returns the text of the answer. */
function post(prompt: string, options: AskOptions, more: object = {}): Promise<string> {
  const { signal, timeout } = options;
  const { url, json, headers } = chatCall(prompt, options);
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      ...(signal && { signal }),
      ...(timeout !== undefined && { timeout }),
    });
    sent.on('timeout', () => sent.destroy(new Error('the socket was idle for too long')));
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode === 200) resolve(text);
        else reject(new StatusError(statusCode));
      });
    });
    sent.end(JSON.stringify({ ...json, ...more }));
  });
}

function deltaOf(data = ''): string {
  const { choices } = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
  return choices[0]?.delta.content ?? '';
}

clientCases({
  name: 'node:http and node:https',
  packages: ['node:http'],
  ask: async (prompt, options) => chatText(await post(prompt, options)),
  async stream(prompt, options) {
    const events = await post(prompt, options, { stream: true });
    return [...events.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => deltaOf(data)).join('');
  },
  statusOf: statusOfStatusError,
});
