import { fingerprintOf } from '../../conformance/subject.test-helper.ts';
import { openSqliteLedger } from '../connection/open-sqlite.ts';
import { awaitCheckpoint } from './await-checkpoint.test-helper.ts';

/**
 * A process of its own that owns something. `node --import tsx owner-child.test-helper.ts <path> <task>`
 * writes one line of JSON and then stays until it is killed.
 */
const [path = '', task = '', count = '2'] = process.argv.slice(2);
const ledger = await openSqliteLedger({ path });
const owner = await ledger.join({ run: `child-${process.pid}`, host: 'here', pid: process.pid });
const account = await ledger.account({ provider: 'openai', hash: new Uint8Array(32) });
const queue = await ledger.queue({
  account,
  provider: 'openai',
  base: 'https://api.openai.com/v1',
  endpoint: '/v1/chat/completions',
  model: 'gpt-4o-mini',
  batchHeaders: {},
});
const asks = Array.from({ length: Number(count) }, (_, number) => ({
  fingerprint: fingerprintOf(number),
  occurrence: 0,
  queue,
  cache: true,
}));

const admissions = await ledger.admit(owner, asks);
const mine = admissions.filter(({ is }) => is === 'mine').map(({ request }) => request);
const batch = { token: `child-${process.pid}`, queue, tags: {} };

if (task === 'create') {
  const lease = await ledger.plan(owner, batch, mine.slice(1));
  await ledger.creating(lease, { fileId: 'file-1' }, { alone: true });
}
if (task === 'collect') {
  const lease = await ledger.plan(owner, batch, mine);
  await ledger.creating(lease, {}, { alone: false });
  await ledger.accepted(lease, { id: 'remote', raw: 'completed' });
  const settlements = mine.slice(0, mine.length / 2).map((request, index) => {
    const answer = { status: 200, headers: {}, body: `answer to ${index}` };
    return { request, is: 'answer', answer } as const;
  });
  await ledger.collected(lease, settlements.reverse(), 'cursor-1');
}
if (task === 'die-planning') {
  // The first of many transactions is then done when `plan` gives back its promise.
  await awaitCheckpoint(ledger);
  void ledger.plan(owner, batch, mine);
  process.kill(process.pid, 'SIGKILL');
}
console.log(JSON.stringify({ owner, mine }));
setInterval(() => {}, 1_000);
