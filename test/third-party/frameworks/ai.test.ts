import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, type LanguageModel, RetryError, streamText } from 'ai';
import {
  type AskOptions,
  type ClientAdapter,
  clientCases,
} from '../../support/clients/client-cases.ts';

type Connect = (options: AskOptions) => LanguageModel;

function openai({ simulator }: AskOptions) {
  return createOpenAI({ apiKey: 'sk-test-key', baseURL: simulator.baseUrl('openai') });
}

function anthropic({ simulator }: AskOptions) {
  // Unlike Anthropic's own SDK it expects the version in the base URL.
  const baseURL = `${simulator.baseUrl('anthropic')}/v1`;
  return createAnthropic({ apiKey: 'sk-ant-test-key', baseURL });
}

function google({ simulator }: AskOptions) {
  const baseURL = `${simulator.baseUrl('google')}/v1beta`;
  return createGoogleGenerativeAI({ apiKey: 'google-test-key', baseURL });
}

function adapter(name: string, provider: string, connect: Connect): ClientAdapter {
  return {
    name: `ai: ${name}`,
    packages: ['ai', provider],
    async ask(prompt, options) {
      const { signal, timeout } = options;
      const { text } = await generateText({
        model: connect(options),
        prompt,
        // One retry shows what it does; two wait for six seconds.
        maxRetries: 1,
        ...(signal && { abortSignal: signal }),
        ...(timeout !== undefined && { timeout }),
      });
      return text;
    },
    async stream(prompt, options) {
      let text = '';
      for await (const piece of streamText({ model: connect(options), prompt }).textStream) {
        text += piece;
      }
      return text;
    },
    statusOf(error) {
      const last = RetryError.isInstance(error) ? error.lastError : error;
      return APICallError.isInstance(last) ? last.statusCode : undefined;
    },
    notes: { errors: 'It ignores `x-should-retry`; its retries get the same error again at once.' },
  };
}

clientCases(adapter('OpenAI responses', '@ai-sdk/openai', (o) => openai(o)('gpt-test')));
clientCases(adapter('OpenAI chat', '@ai-sdk/openai', (o) => openai(o).chat('gpt-test')));
clientCases(adapter('Anthropic', '@ai-sdk/anthropic', (o) => anthropic(o)('claude-test')));
clientCases({
  ...adapter('Google', '@ai-sdk/google', (o) => google(o)('gemini-test')),
  provider: 'google',
});
