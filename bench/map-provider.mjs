// A provider of OpenAI's batch wire for jobs of millions of lines: batches end at once, answers are made when they are
// read, and nothing is kept but a count for each line. node map-provider.mjs <lines>
import { createServer } from 'node:http';

const executions = new Uint8Array(Number(process.argv[2]));
const files = new Map();
const batches = new Map();
let last = 0;

// A client that is killed in the middle of an upload has sent nothing.
const server = createServer((request, reply) => {
  handle(request, reply).catch(() => reply.destroy());
});

async function handle(request, reply) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const [, , kind, id, part] = pathname.split('/');
  if (pathname === '/executions') return json(reply, summary());
  if (kind === 'files' && request.method === 'POST') return json(reply, upload(body));
  if (kind === 'files' && request.method === 'DELETE') {
    files.delete(id);
    return json(reply, { id, deleted: true });
  }
  if (kind === 'files' && part === 'content') return sendAnswers(reply, id);
  if (kind === 'batches' && request.method === 'POST') return json(reply, create(JSON.parse(body)));
  if (kind === 'batches' && id === undefined) return json(reply, list(searchParams));
  if (kind === 'batches') return json(reply, batches.get(id));
  reply.writeHead(404).end('{}');
}

server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${server.address().port}/v1\n`),
);
process.stdin.resume().once('end', () => process.exit());

function json(reply, value) {
  reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function upload(form) {
  const id = `file-${++last}`;
  const start = form.indexOf('\r\n\r\n', form.indexOf('filename=')) + 4;
  files.set(id, form.subarray(start, form.lastIndexOf('\r\n--')));
  return { id, object: 'file', created_at: seconds(), purpose: 'batch', bytes: form.length };
}

function create({ input_file_id: file, metadata, endpoint }) {
  let count = 0;
  for (const line of linesOf(files.get(file))) {
    const number = Number(/line (\d+)/.exec(line)[1]);
    executions[number] += 1;
    count += 1;
  }
  const id = `batch_${++last}`;
  const batch = {
    id,
    object: 'batch',
    endpoint,
    input_file_id: file,
    output_file_id: file,
    error_file_id: null,
    completion_window: '24h',
    status: 'completed',
    created_at: seconds(),
    completed_at: seconds(),
    request_counts: { total: count, completed: count, failed: 0 },
    metadata,
  };
  batches.set(id, batch);
  return batch;
}

function list(search) {
  const newest = [...batches.values()].reverse();
  const from = search.has('after')
    ? newest.findIndex(({ id }) => id === search.get('after')) + 1
    : 0;
  const limit = Number(search.get('limit') ?? 20);
  const data = newest.slice(from, from + limit);
  return { object: 'list', data, has_more: from + limit < newest.length, last_id: data.at(-1)?.id };
}

function sendAnswers(reply, id) {
  reply.writeHead(200, { 'content-type': 'application/jsonl' });
  let text = '';
  for (const line of linesOf(files.get(id))) {
    const [, custom] = /"custom_id":"([^"]+)"/.exec(line);
    const [, number] = /line (\d+)/.exec(line);
    text += `{"id":"r${number}","custom_id":"${custom}","response":{"status_code":200,"request_id":"q${number}","body":{"id":"c${number}","object":"chat.completion","created":1,"model":"gpt-5-mini","choices":[{"index":0,"message":{"role":"assistant","content":"answer to line ${number}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":40,"completion_tokens":5,"total_tokens":45}}},"error":null}\n`;
    if (text.length < 500_000) continue;
    reply.write(text);
    text = '';
  }
  reply.end(text);
}

function* linesOf(bytes) {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    if (end > start) yield bytes.toString('utf8', start, end);
    start = end + 1;
  }
}

function summary() {
  let [never, once, twice] = [0, 0, 0];
  for (const count of executions) {
    if (count === 0) never += 1;
    else if (count === 1) once += 1;
    else twice += 1;
  }
  return { never, once, twice, batches: batches.size };
}

function seconds() {
  return Math.floor(Date.now() / 1000);
}
