// A program with a scope of its own, which it opens with a store of its own. Arguments: URL, store.
import { batchify } from '../../../../src/index.ts';

const [url, store] = process.argv.slice(2) as [string, string];

async function ask(content: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-nested', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  });
  await response.text();
  console.log(response.headers.get('x-batchling-source'));
}

await batchify(() => Promise.all([ask('one'), ask('two')]), { store });
