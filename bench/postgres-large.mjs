// Admits and claims on a PostgreSQL ledger: node postgres-large.mjs <store> <rounds>
// The ledger is no entry of the package: it is loaded from the sources.
import 'tsx';
import { randomBytes } from 'node:crypto';

const { openPostgresLedger } = await import('../src/ledger/postgres/connection/open-postgres.ts');

const [store, rounds] = process.argv.slice(2);
const asksPerRound = 1_000;

const ledger = await openPostgresLedger({ store });
const run = randomBytes(6).toString('hex');
const me = await ledger.join({ run, host: 'bench', pid: 1 });
const account = await ledger.account({ provider: 'openai', hash: new Uint8Array(32) });
const queue = await ledger.queue({
  account,
  provider: 'openai',
  base: 'https://api.openai.com/v1',
  endpoint: '/v1/chat/completions',
  model: 'gpt-5-mini',
  batchHeaders: {},
});

const admits = [];
const claims = [];
for (let round = 0; round < Number(rounds); round += 1) {
  const asks = Array.from({ length: asksPerRound }, () => {
    return { fingerprint: randomBytes(32), occurrence: 'next', queue, cache: true };
  });
  const admissions = await timed(admits, () => ledger.admit(me, asks));
  const requests = admissions.map(({ request }) => request);
  const lease = await ledger.plan(me, { token: `${run}-${round}`, queue, tags: {} }, requests);
  await ledger.giveBack(lease);
  await timed(claims, () => ledger.claim(me, lease.batch));
}
await ledger.close();
const least = (values) => Math.min(...values);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
process.stdout.write(
  `${JSON.stringify({
    admit: median(admits),
    claim: median(claims),
    leastAdmit: least(admits),
    leastClaim: least(claims),
  })}\n`,
);

async function timed(times, work) {
  const startedAt = performance.now();
  const result = await work();
  times.push(performance.now() - startedAt);
  return result;
}
