import fetch from 'node-fetch';
import {
  chatCall,
  chatText,
  StatusError,
  statusOfStatusError,
} from '../../support/clients/chat-wire.ts';
import { clientCases } from '../../support/clients/client-cases.ts';

clientCases({
  name: 'node-fetch',
  packages: ['node-fetch'],
  async ask(prompt, options) {
    const { timeout, signal = timeout && AbortSignal.timeout(timeout) } = options;
    const { url, json, headers } = chatCall(prompt, options);
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(json),
      headers: { ...headers, 'content-type': 'application/json' },
      ...(signal && { signal: signal as never }),
    });
    if (!response.ok) throw new StatusError(response.status);
    return chatText(await response.text());
  },
  statusOf: statusOfStatusError,
  givesUp:
    'It rejects by itself when its signal times out. The request stays in its batch, and asking ' +
    'again re-joins it instead of paying twice.',
});
