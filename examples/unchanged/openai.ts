// Ordinary code with the OpenAI SDK. It knows nothing of batchling:
//
//   npx batchling run examples/unchanged/openai.ts
//   npx batchling exec -- npx tsx examples/unchanged/openai.ts
import OpenAI from 'openai';

const openai = new OpenAI();
const cities = ['Lisbon', 'Oslo', 'Quito', 'Seoul', 'Accra', 'Perth'];

async function describe(city: string): Promise<string> {
  const { choices } = await openai.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: `One sentence about ${city}.` }],
  });
  return `${city}: ${choices[0]?.message.content}`;
}

console.log((await Promise.all(cities.map(describe))).join('\n'));
