// A small server in OpenAI's shape, as llama.cpp, vLLM or a proxy are: chat completions, and no batches.
//
//   node examples/small-server.mjs 8000
import { createServer } from 'node:http';

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const isChat = request.url === '/v1/chat/completions';
  const { model, messages } = isChat ? JSON.parse(body) : {};
  // A model takes its time.
  if (isChat) await new Promise((resolve) => setTimeout(resolve, 5));
  response.writeHead(isChat ? 200 : 404, { 'content-type': 'application/json' });
  const content = `It says: ${messages?.at(-1).content}`;
  const message = { role: 'assistant', content };
  const answer = {
    id: 'chatcmpl-here',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 8, total_tokens: 13 },
  };
  response.end(JSON.stringify(isChat ? answer : { error: { message: 'Not Found' } }));
});

server.listen(Number(process.argv[2] ?? 8000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/v1`);
});
