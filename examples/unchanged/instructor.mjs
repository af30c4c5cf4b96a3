// Ordinary code with Instructor, which turns texts into checked objects. It knows nothing of batchling:
//
//   npx batchling run examples/unchanged/instructor.mjs
//   npx batchling exec -- node examples/unchanged/instructor.mjs
import createInstructor from '@instructor-ai/instructor';
import OpenAI from 'openai';
import { z } from 'zod';

const schema = z.object({ city: z.string(), people: z.number() });
const instructor = createInstructor({ client: new OpenAI(), mode: 'JSON' });
const texts = ['Oslo has 700,000 people.', 'In Quito live 1,800,000.', 'Perth: 2,200,000.'];

async function read(text) {
  const { city, people } = await instructor.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: text }],
    response_model: { schema, name: 'City' },
  });
  return `${city}: ${people}`;
}

console.log((await Promise.all(texts.map(read))).join('\n'));
