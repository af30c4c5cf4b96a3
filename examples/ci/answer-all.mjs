// The program of a nightly job: a question per line of a file, an answer per line of another one. It knows nothing of
// batchling. answer-all.yml runs it with `batchling run --detach`, every half an hour, until the answers are there.
import { readFile, writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const [input = 'questions.txt', output = 'answers.jsonl'] = process.argv.slice(2);
const openai = new OpenAI();

async function answer(question) {
  const { choices } = await openai.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: question }],
  });
  return JSON.stringify({ question, answer: choices[0].message.content });
}

const questions = (await readFile(input, 'utf8')).split('\n').filter(Boolean);
const answers = await Promise.all(questions.map(answer));
await writeFile(output, `${answers.join('\n')}\n`);
console.log(`${answers.length} answers in ${output}`);
