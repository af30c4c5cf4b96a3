import superagent from 'superagent';
import { chatCall, chatText, rejoins } from '../../support/clients/chat-wire.ts';
import { clientCases } from '../../support/clients/client-cases.ts';

clientCases({
  name: 'superagent',
  packages: ['superagent'],
  async ask(prompt, options) {
    const { signal, timeout } = options;
    const { url, json, headers } = chatCall(prompt, options);
    const request = superagent.post(url).set(headers).send(json);
    if (timeout === undefined) request.retry(1);
    else request.timeout(timeout);
    // It knows no signals; its promise is rejected by abort().
    const stop = () => {
      request.abort();
    };
    signal?.addEventListener('abort', stop, { once: true });
    return chatText((await request).body);
  },
  statusOf: (error) => (error as { response?: { status?: number } }).response?.status,
  givesUp: rejoins,
});
