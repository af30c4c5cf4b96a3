// 3,000 reviews become records. The SDK's own `parse` checks each answer against the schema.
//
//   npx tsx examples/structured-output.ts > reviews.jsonl
import { batchify } from 'batchling';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const Review = z.object({
  product: z.string(),
  sentiment: z.enum(['positive', 'neutral', 'negative']),
  stars: z.int().min(1).max(5),
});

const openai = new OpenAI();

async function read(text: string) {
  const completion = await openai.chat.completions.parse({
    model: 'gpt-5-mini',
    messages: [
      { role: 'system', content: 'Say what this review says, as data.' },
      { role: 'user', content: text },
    ],
    response_format: zodResponseFormat(Review, 'review'),
  });
  return completion.choices[0]?.message.parsed;
}

const products = ['kettle', 'lamp', 'tent', 'bicycle', 'radio'];
const texts = Array.from({ length: 3_000 }, (_, index) => {
  const product = products[index % products.length];
  return `Review ${index + 1}: I have had this ${product} for ${(index % 11) + 1} months now.`;
});

const reviews = await batchify(() => Promise.all(texts.map(read)));
for (const [index, review] of reviews.entries()) {
  console.log(JSON.stringify({ text: texts[index], review }));
}
