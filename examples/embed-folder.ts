// Vectors of all text files of a folder, one call per file. The file name goes with each vector.
//
//   npx tsx examples/embed-folder.ts examples/data/texts > vectors.jsonl
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { batchify } from 'batchling';
import OpenAI from 'openai';

const openai = new OpenAI();
const [folder = 'examples/data/texts'] = process.argv.slice(2);

async function embed(name: string) {
  const input = await readFile(join(folder, name), 'utf8');
  const { data } = await openai.embeddings.create({ model: 'text-embedding-3-small', input });
  return { name, vector: data[0]?.embedding };
}

const names = (await readdir(folder)).filter((name) => name.endsWith('.txt'));
const vectors = await batchify(() => Promise.all(names.map(embed)));
for (const each of vectors) console.log(JSON.stringify(each));
