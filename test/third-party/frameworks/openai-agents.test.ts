import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
} from '@openai/agents';
import OpenAI from 'openai';
import {
  type AskOptions,
  type ClientAdapter,
  clientCases,
} from '../../support/clients/client-cases.ts';

setTracingDisabled(true);

type ModelClass = typeof OpenAIChatCompletionsModel | typeof OpenAIResponsesModel;

function agent(Model: ModelClass, { simulator, timeout }: AskOptions): Agent {
  const client = new OpenAI({
    apiKey: 'sk-test-key',
    baseURL: simulator.baseUrl('openai'),
    ...(timeout !== undefined && { timeout }),
  });
  // Its types are those of the openai version it was built with.
  return new Agent({ name: 'Tester', model: new Model(client as never, 'gpt-test') });
}

function adapter(name: string, Model: ModelClass): ClientAdapter {
  return {
    name: `@openai/agents: ${name}`,
    packages: ['@openai/agents'],
    async ask(prompt, options) {
      const { signal } = options;
      const result = await run(agent(Model, options), prompt, { ...(signal && { signal }) });
      return String(result.finalOutput);
    },
    async stream(prompt, options) {
      const result = await run(agent(Model, options), prompt, { stream: true });
      let text = '';
      for await (const piece of result.toTextStream()) text += piece;
      return text;
    },
    statusOf: (error) => (error instanceof OpenAI.APIError ? error.status : undefined),
  };
}

clientCases(adapter('responses', OpenAIResponsesModel));
clientCases(adapter('chat completions', OpenAIChatCompletionsModel));
