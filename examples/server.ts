// A server that answers each request from a scope of its own. Requests that come at the same time
// share their batches; each gets its own answers.
//
//   npx tsx examples/server.ts
//   curl http://127.0.0.1:3000 -d '["a long text", "another one"]'
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { batchify } from 'batchling';
import OpenAI from 'openai';

const openai = new OpenAI();

async function summarise(text: string) {
  const completion = await openai.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: `In five words: ${text}` }],
  });
  return completion.choices[0]?.message.content;
}

const server = createServer(async (request, response) => {
  try {
    const texts = (await json(request)) as string[];
    const summaries = await batchify(() => Promise.all(texts.map(summarise)));
    response.setHeader('content-type', 'application/json').end(JSON.stringify(summaries));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${port}`);
});
