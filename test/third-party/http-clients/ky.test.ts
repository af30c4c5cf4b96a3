import ky, { HTTPError } from 'ky';
import { chatCall, chatText, rejoins } from '../../support/clients/chat-wire.ts';
import { clientCases } from '../../support/clients/client-cases.ts';

clientCases({
  name: 'ky',
  packages: ['ky'],
  async ask(prompt, options) {
    const { signal, timeout = false } = options;
    const { url, json, headers } = chatCall(prompt, options);
    const answer = await ky
      .post(url, {
        json,
        headers,
        timeout,
        // It does not repeat a POST unless told so.
        retry: { limit: 1, methods: ['post'], statusCodes: [500], delay: () => 1 },
        ...(signal && { signal }),
      })
      .json();
    return chatText(answer);
  },
  statusOf: (error) => (error instanceof HTTPError ? error.response.status : undefined),
  givesUp: `${rejoins} Without one (\`timeout: false\`) it waits.`,
});
