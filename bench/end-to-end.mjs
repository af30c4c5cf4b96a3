// CPU of one fetch that is not captured, over loopback: node end-to-end.mjs bare|outside|inside <url>
const [place, url] = process.argv.slice(2);
const calls = 4_000;

let surround = (fn) => fn();
if (place !== 'bare') {
  const { batchify } = await import('../dist/index.js');
  const scope = batchify({ store: ':memory:', display: 'none' });
  if (place === 'inside') surround = (fn) => scope.run(fn);
}
const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

async function ask(times) {
  for (let call = 0; call < times; call += 1) await (await fetch(url, init)).text();
}

await surround(() => ask(500));
const started = process.cpuUsage();
await surround(() => ask(calls));
const { user, system } = process.cpuUsage(started);
process.stdout.write(`${JSON.stringify({ microseconds: (user + system) / calls })}\n`);
