// An evaluation over a dataset file. Each result is written as soon as its answer is there, in whatever order they come.
// A question that fails is a line with its error; it does not end the evaluation.
//
//   npx tsx examples/evals.ts examples/data/questions.jsonl > results.jsonl
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { batchify } from 'batchling';
import OpenAI from 'openai';

interface Question {
  readonly id: number;
  readonly question: string;
  readonly expected: string;
}

const openai = new OpenAI();
const [dataset = 'examples/data/questions.jsonl'] = process.argv.slice(2);

async function ask(question: string): Promise<string> {
  const { choices } = await openai.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [
      { role: 'system', content: 'Answer in one word.' },
      { role: 'user', content: question },
    ],
  });
  return choices[0]?.message.content ?? '';
}

async function evaluate({ id, question, expected }: Question): Promise<boolean> {
  try {
    const answer = await ask(question);
    const passed = answer.toLowerCase().includes(expected.toLowerCase());
    console.log(JSON.stringify({ id, passed, answer }));
    return passed;
  } catch (error) {
    console.log(JSON.stringify({ id, passed: false, error: String(error) }));
    return false;
  }
}

const results = await batchify(async () => {
  const evaluations: Promise<boolean>[] = [];
  // Reading goes on while the first calls wait already.
  for await (const line of createInterface({ input: createReadStream(dataset) })) {
    if (line !== '') evaluations.push(evaluate(JSON.parse(line)));
  }
  return Promise.all(evaluations);
});
console.error(`${results.filter(Boolean).length} of ${results.length} passed`);
