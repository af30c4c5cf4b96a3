/** Asks in two scopes of its own, which are patient to a different degree, and outside of them. */
import { batchify } from '../../../../src/index.ts';

const [url = ''] = process.argv.slice(2);

async function ask(content: string): Promise<string> {
  const headers = { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const response = await fetch(url, { method: 'POST', headers, body });
  return response.text();
}

await Promise.all([
  batchify(() => Promise.all(['a', 'b'].map(ask)), { window: '1s' }),
  batchify(() => Promise.all(['c', 'd', 'e'].map(ask)), { window: '10ms' }),
  ask('f'),
]);
