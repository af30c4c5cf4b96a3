// Two terminals, one ledger: what both ask for is sent once, whoever comes first.
//
//   npx tsx examples/two-terminals.ts 1 300      in one terminal
//   npx tsx examples/two-terminals.ts 151 450    in the other one
import { batchify } from 'batchling';
import OpenAI from 'openai';

const [first = 1, last = 300] = process.argv.slice(2).map(Number);
const openai = new OpenAI();

async function translate(number: number) {
  const completion = await openai.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: `Sentence ${number}, in French please.` }],
  });
  return { number, text: completion.choices[0]?.message.content };
}

const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
const translations = await batchify(() => Promise.all(numbers.map(translate)));
for (const each of translations) console.log(JSON.stringify(each));
