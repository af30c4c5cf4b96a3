// 40 agents with two tools each. Every step of all agents that wait at the same time is one batch.
//
//   npx tsx examples/agents.ts
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs, tool } from 'ai';
import { batchify } from 'batchling';
import { z } from 'zod';

const weather = tool({
  description: 'The weather of a city in a month',
  inputSchema: z.object({ city: z.string(), month: z.string() }),
  execute: async ({ city, month }) => `${city} in ${month}: ${city.length + 10} degrees`,
});

const trains = tool({
  description: 'The price of a train ticket to a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `a ticket to ${city}: ${city.length * 10} euros`,
});

async function plan(city: string) {
  const { text, steps } = await generateText({
    model: openai('gpt-5-mini'),
    prompt: `Plan a weekend in ${city} in May. Look up the weather and the price of the train.`,
    tools: { weather, trains },
    stopWhen: stepCountIs(6),
  });
  return { city, steps: steps.length, text };
}

const cities = Array.from({ length: 40 }, (_, index) => `City-${index + 1}`);
const plans = await batchify(() => Promise.all(cities.map(plan)));
for (const each of plans) console.log(JSON.stringify(each));
