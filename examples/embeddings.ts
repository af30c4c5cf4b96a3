// 5,000 passages become vectors, twenty of them per call.
//
//   npx tsx examples/embeddings.ts > vectors.jsonl
import { batchify } from 'batchling';
import OpenAI from 'openai';

const openai = new OpenAI();
const passages = Array.from({ length: 5_000 }, (_, index) => `Passage ${index + 1} of the book.`);
const perCall = 20;

async function embed(input: string[]): Promise<number[][]> {
  const { data } = await openai.embeddings.create({
    model: 'text-embedding-3-small',
    dimensions: 256,
    input,
  });
  return data.map(({ embedding }) => embedding);
}

const calls: string[][] = [];
for (let at = 0; at < passages.length; at += perCall) {
  calls.push(passages.slice(at, at + perCall));
}

const vectors = (await batchify(() => Promise.all(calls.map(embed)))).flat();
for (const [index, vector] of vectors.entries()) {
  console.log(JSON.stringify({ passage: passages[index], vector }));
}
