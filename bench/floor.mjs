// The least that any program must do to send prompts through a Batch API.
// node floor.mjs <base URL> <count>
import { batchSize, create, encode, resultsOf, upload } from './floor-wire.mjs';
import { measure } from './measure.mjs';

const count = Number(process.argv[3]);

await measure(count, async (bodies) => {
  const callers = [];
  const waiting = new Map();
  const calls = bodies.map((body, index) => {
    const id = `call-${index}`;
    callers.push(new Promise((resolve) => waiting.set(id, resolve)));
    return { id, body };
  });
  const collecting = [];
  for (let start = 0; start < calls.length; start += batchSize) {
    const file = await upload(encode(calls.slice(start, start + batchSize), lineOf));
    collecting.push(collect(await create(file), waiting));
  }
  await Promise.all(collecting);
  return Promise.all(callers);
});

function lineOf({ id, body }) {
  return JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });
}

async function collect(batch, waiting) {
  for await (const line of resultsOf(batch)) {
    const { custom_id: call, response } = JSON.parse(line);
    waiting.get(call)(response.body);
  }
}
