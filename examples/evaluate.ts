// Ordinary code with the official SDK. Against the simulator, after `npm run build` in a checkout:
//   npx batchling simulate         (prints the variables to export in this terminal)
//   OPENAI_API_KEY=any npx tsx examples/evaluate.ts
import { batchify } from 'batchling';
import OpenAI from 'openai';

const openai = new OpenAI();
const cities = ['Lisbon', 'Oslo', 'Quito', 'Seoul'];

async function ask(city: string): Promise<string> {
  const completion = await openai.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: `One sentence about ${city}.` }],
  });
  return completion.choices[0]?.message.content ?? '';
}

const answers = await batchify(() => Promise.all(cities.map(ask)), { window: '2s' });
console.log(answers.join('\n'));
