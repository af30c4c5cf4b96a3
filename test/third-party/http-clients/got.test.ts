import got, { HTTPError } from 'got';
import { chatCall, chatText, rejoins } from '../../support/clients/chat-wire.ts';
import { clientCases } from '../../support/clients/client-cases.ts';

clientCases({
  name: 'got',
  packages: ['got'],
  async ask(prompt, options) {
    const { signal, timeout } = options;
    const { url, json, headers } = chatCall(prompt, options);
    const answer = await got
      .post(url, {
        json,
        headers,
        // It does not repeat a POST unless told so, but may do so here: on statuses, not on timeouts.
        retry: { limit: 1, methods: ['POST'], errorCodes: [], calculateDelay: retryAtOnce },
        ...(signal && { signal }),
        ...(timeout !== undefined && { timeout: { request: timeout } }),
      })
      .json();
    return chatText(answer);
  },
  statusOf: (error) => (error instanceof HTTPError ? error.response.statusCode : undefined),
  givesUp: rejoins,
});

function retryAtOnce({ computedValue }: { computedValue: number }): number {
  return Math.min(computedValue, 1);
}
