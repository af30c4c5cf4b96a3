import { CohereClientV2 } from 'cohere-ai';
import { passThroughCases } from '../../support/clients/pass-through-cases.ts';

passThroughCases({
  name: 'cohere-ai',
  packages: ['cohere-ai'],
  isReported: false,
  ask(origin) {
    const client = new CohereClientV2({ token: 'cohere-test-key', environment: origin });
    return client.chat({ model: 'command-test', messages: [{ role: 'user', content: 'hello' }] });
  },
});
