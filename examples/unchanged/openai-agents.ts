// Ordinary code with the OpenAI Agents SDK. It knows nothing of batchling. Each step of all agents that wait at the
// same time becomes one batch:
//
//   npx batchling run examples/unchanged/openai-agents.ts
//   npx batchling exec -- npx tsx examples/unchanged/openai-agents.ts
import { Agent, run, setTracingDisabled } from '@openai/agents';

setTracingDisabled(true);

const gardener = new Agent({
  name: 'Gardener',
  instructions: 'You answer questions about plants in one sentence.',
  model: 'gpt-5-mini',
});
const plants = ['ivy', 'fern', 'moss', 'aloe'];

async function ask(plant: string): Promise<string> {
  const { finalOutput } = await run(gardener, `How much light does ${plant} need?`);
  return `${plant}: ${finalOutput}`;
}

console.log((await Promise.all(plants.map(ask))).join('\n'));
