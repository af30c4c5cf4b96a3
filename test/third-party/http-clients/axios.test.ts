import axios from 'axios';
import { chatCall, chatText, rejoins } from '../../support/clients/chat-wire.ts';
import { type ClientAdapter, clientCases } from '../../support/clients/client-cases.ts';

function adapter(transport: 'http' | 'fetch'): Omit<ClientAdapter, 'givesUp'> {
  return {
    name: `axios: ${transport} adapter`,
    packages: ['axios'],
    async ask(prompt, options) {
      const { signal, timeout } = options;
      const { url, json, headers } = chatCall(prompt, options);
      const { data } = await axios.post<unknown>(url, json, {
        adapter: transport,
        headers,
        ...(signal && { signal }),
        ...(timeout !== undefined && { timeout }),
      });
      return chatText(data);
    },
    statusOf: (error) => (axios.isAxiosError(error) ? error.response?.status : undefined),
  };
}

clientCases({ ...adapter('http'), givesUp: rejoins });
clientCases(adapter('fetch'));
