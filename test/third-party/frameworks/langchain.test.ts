import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import {
  type AskOptions,
  type ClientAdapter,
  clientCases,
} from '../../support/clients/client-cases.ts';

type Model = ChatOpenAI | ChatAnthropic;

// Its default is six retries, with waits of seconds between them; one shows what it does.
const maxRetries = 1;

function openai({ simulator, timeout }: AskOptions): ChatOpenAI {
  return new ChatOpenAI({
    model: 'gpt-test',
    apiKey: 'sk-test-key',
    maxRetries,
    configuration: { baseURL: simulator.baseUrl('openai') },
    ...(timeout !== undefined && { timeout }),
  });
}

function anthropic({ simulator, timeout }: AskOptions): ChatAnthropic {
  return new ChatAnthropic({
    model: 'claude-test',
    apiKey: 'sk-ant-test-key',
    maxRetries,
    maxTokens: 64,
    anthropicApiUrl: simulator.baseUrl('anthropic'),
    ...(timeout !== undefined && { clientOptions: { timeout } }),
  });
}

function adapter(name: string, connect: (options: AskOptions) => Model): ClientAdapter {
  return {
    name,
    packages: [name],
    async ask(prompt, options) {
      const { signal } = options;
      return (await connect(options).invoke(prompt, { ...(signal && { signal }) })).text;
    },
    async stream(prompt, options) {
      let text = '';
      for await (const piece of await connect(options).stream(prompt)) text += piece.text;
      return text;
    },
    statusOf: (error) => (error as { status?: number }).status,
    notes: { errors: 'It ignores `x-should-retry`; its retries get the same error again at once.' },
  };
}

clientCases(adapter('@langchain/openai', openai));
clientCases(adapter('@langchain/anthropic', anthropic));
