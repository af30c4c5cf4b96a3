import createInstructor from '@instructor-ai/instructor';
import OpenAI from 'openai';
import { z } from 'zod';
import { clientCases } from '../support/client-cases.ts';

/** It would print every error with the whole request. */
const quiet = () => undefined;

clientCases({
  name: '@instructor-ai/instructor',
  packages: ['@instructor-ai/instructor'],
  async ask(content, { simulator, signal, timeout }) {
    const client = new OpenAI({
      apiKey: 'sk-test-key',
      baseURL: simulator.baseUrl('openai'),
      ...(timeout !== undefined && { timeout }),
    });
    const instructor = createInstructor({ client: client as never, mode: 'JSON', logger: quiet });
    const schema = z.object({ answer: z.string() });
    // Its types are those of the openai and zod versions it was built with.
    const question = {
      model: 'gpt-test',
      messages: [{ role: 'user', content }],
      response_model: { schema, name: 'Answer' },
    };
    const { answer } = (await instructor.chat.completions.create(
      question as never,
      { ...(signal && { signal }) } as never,
    )) as { answer: string };
    return answer;
  },
  statusOf: (error) => (error instanceof OpenAI.APIError ? error.status : undefined),
});
