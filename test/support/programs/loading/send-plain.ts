import OpenAI from 'openai';
import { readInput } from '../parts/read-input.ts';

/**
 * Sends the same requests without the package, with it, and inside a scope of it; in a scope those
 * that would be captured are kept out by `realtime` or a header.
 */
type Mode = 'absent' | 'outside' | 'inside';

const { mode, port, otherPort } = readInput<{ mode: Mode; port: number; otherPort: number }>();
const base = `http://127.0.0.1:${port}/v1`;
const other = `http://127.0.0.1:${otherPort}/v1`;

/** A tracer that was there first, with marks of its own. */
const traced: { self: string; values: string[] }[] = [];
const native = globalThis.fetch;
const mark = Symbol.for('test.tracer');
const tracer = function fetch(this: unknown, ...values: Parameters<typeof native>) {
  traced.push({ self: typeof this, values: values.map((value) => typeof value) });
  return native(...values);
};
globalThis.fetch = Object.assign(tracer, { [mark]: 'traced', mock: { calls: traced } });

const library = mode === 'absent' ? undefined : await import('../../../../src/index.ts');
const realtime = mode === 'inside' && library ? library.realtime : <T>(fn: () => T) => fn();
const off: Record<string, string> = mode === 'inside' ? { 'x-batchling': 'off' } : {};

const chat = '{"model":"gpt-test","messages":[{"role":"user","content":"Zürich"}]}';
const headers = {
  'X-Zulu': '1',
  Authorization: 'Bearer sk-plain',
  'Content-Type': 'application/json',
  'x-alpha': '2',
};
const post = { method: 'POST', headers, body: chat };

function streamed(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(chat));
      controller.close();
    },
  });
}

/** Can be read only once. */
function once(given: Record<string, string>): NonNullable<RequestInit['headers']> {
  return Object.entries(given).values() as unknown as NonNullable<RequestInit['headers']>;
}

const client = new OpenAI({ apiKey: 'sk-plain', baseURL: base, organization: null, project: null });

/** More than fetch takes: frameworks hand on settings of their own. */
const withMore = (...values: unknown[]) => Reflect.apply(fetch, globalThis, values);

const steps: Record<string, () => PromiseLike<unknown>> = {
  'GET alone': () => fetch(`${base}/models`),
  'GET with undefined': () => fetch(`${base}/models`, undefined),
  'POST with a third argument': () => withMore(`${base}/files`, post, { next: true }),
  'POST chat with a third argument to another host': () =>
    withMore(`${other}/chat/completions`, post, { next: true }),
  'POST a message to a chat service': () =>
    fetch(`${base}/channels/1/messages`, { ...post, body: '{"text":"hello"}' }),
  'POST files': () => fetch(`${base}/files`, post),
  'POST batches': () => fetch(new URL(`${base}/batches`), post),
  'GET models': () => fetch(`${base}/models`, { headers }),
  'GET chat completions': () => fetch(`${base}/chat/completions`, { headers }),
  'DELETE chat completion': () =>
    fetch(`${base}/chat/completions/1`, { method: 'DELETE', headers }),
  'POST chat to another host': () => fetch(`${other}/chat/completions`, post),
  'POST chat with headers out of an iterator to another host': () =>
    fetch(`${other}/chat/completions`, { ...post, headers: once(headers) }),
  'POST chat by a Request to another host': () =>
    fetch(new Request(`${other}/chat/completions`, post)),
  'POST a stream to another path': () =>
    fetch(`${base}/audio`, { ...post, body: streamed(), duplex: 'half' }),
  'POST chat realtime': () => realtime(() => fetch(`${base}/chat/completions`, post)),
  'POST chat realtime by a Request': () =>
    realtime(() => fetch(new Request(`${base}/chat/completions`, post))),
  'POST chat with the header': () =>
    fetch(`${base}/chat/completions`, { ...post, headers: { ...headers, ...off } }),
  'POST chat with the header in a list': () =>
    fetch(`${base}/chat/completions`, {
      ...post,
      headers: [...Object.entries(headers), ...Object.entries(off)],
    }),
  'POST chat with the header in a Request': () =>
    fetch(new Request(`${base}/chat/completions`, { ...post, headers: { ...headers, ...off } })),
  'SDK models': () => client.models.list().asResponse(),
  'SDK files': () => client.files.list().asResponse(),
  'SDK batches': () =>
    client.batches
      .create({ input_file_id: 'f', endpoint: '/v1/embeddings', completion_window: '24h' })
      .asResponse(),
  'SDK chat with the header': () =>
    client.chat.completions
      .create({ model: 'm', messages: [{ role: 'user', content: 'x' }] }, { headers: off })
      .asResponse(),
};

async function sendAll(): Promise<Record<string, boolean>> {
  const native: Record<string, boolean> = {};
  for (const [name, send] of Object.entries(steps)) {
    const response = await send();
    native[name] = Object.getPrototypeOf(response) === Response.prototype;
    await (response as Response).text();
  }
  return native;
}

const hosts = { [base]: 'openai' } as const;
const natives =
  mode === 'inside' && library
    ? await library.batchify(sendAll, { hosts, store: ':memory:', window: '5ms', poll: '5ms' })
    : await sendAll();
const { mock, [mark]: seen } = fetch as unknown as typeof globalThis.fetch & {
  [mark]?: string;
  mock?: { calls: unknown };
};
const looks = { name: fetch.name, length: fetch.length, mark: seen, mock: mock?.calls === traced };
console.log(JSON.stringify({ native: natives, looks, traced }));
