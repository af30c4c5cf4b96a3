// Ordinary code with LangChain: a chain of a prompt, a model and a parser. It knows nothing of
// batchling:
//
//   npx batchling run examples/unchanged/langchain.ts
//   npx batchling exec -- npx tsx examples/unchanged/langchain.ts
import { StringOutputParser } from '@langchain/core/output_parsers';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { ChatOpenAI } from '@langchain/openai';

const prompt = ChatPromptTemplate.fromMessages([
  ['system', 'You name the capital of a country.'],
  ['user', '{country}'],
]);
const chain = prompt.pipe(new ChatOpenAI({ model: 'gpt-5-mini' })).pipe(new StringOutputParser());
const countries = ['Norway', 'Ecuador', 'Korea', 'Ghana', 'Portugal', 'Australia'];

const capitals = await chain.batch(countries.map((country) => ({ country })));
for (const [index, capital] of capitals.entries()) console.log(`${countries[index]}: ${capital}`);
