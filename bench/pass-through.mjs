// What a fetch costs that is not captured: node pass-through.mjs bare|outside|inside
const [place] = process.argv.slice(2);
const calls = 500_000;
const rounds = 7;

// Before batchling is loaded, so that its wrapper goes around this and the network does not count.
const done = Promise.resolve();
globalThis.fetch = (_input, _init) => done;

let surround = (fn) => fn();
if (place !== 'bare') {
  const { batchify } = await import('../dist/index.js');
  const scope = batchify({ store: ':memory:', display: 'none' });
  // Asking for the current scope is free until a first one was entered: not what is looked for.
  scope.run(() => undefined);
  if (place === 'inside') surround = (fn) => scope.run(fn);
}

const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
let nanoseconds = Number.POSITIVE_INFINITY;
for (let round = 0; round < rounds; round += 1) {
  surround(() => {
    const startedAt = process.hrtime.bigint();
    for (let call = 0; call < calls; call += 1) void fetch('https://example.com/v1/items', init);
    const elapsed = Number(process.hrtime.bigint() - startedAt);
    nanoseconds = Math.min(nanoseconds, elapsed / calls);
  });
}
process.stdout.write(`${JSON.stringify({ nanoseconds })}\n`);
