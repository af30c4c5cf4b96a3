// Turns what the tests in test/third-party have found out into docs/clients.md:
//   npx vitest run test/third-party && node scripts/clients-doc.mjs
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'node_modules', '.cache', 'batchling-clients');

const columns = {
  captured: 'captured',
  timeout: 'outlives its own timeout',
  abort: 'abort works at once',
  stream: 'streams',
  errors: 'errors map',
};

/** @typedef {{ verdict: string, note?: string }} Outcome */
/** @typedef {{ client: string, versions: string[], node: string } & Record<string, Outcome>} Row */

const rows = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => /** @type {Row} */ (JSON.parse(readFileSync(join(folder, name), 'utf8'))))
  .sort((left, right) => rank(left) - rank(right) || (left.client < right.client ? -1 : 1));

/** Captured clients first. @param {Row} row */
function rank(row) {
  return row.captured?.verdict === 'yes' ? 0 : 1;
}

/** @type {string[]} */
const notes = [];

/** @param {Outcome | undefined} outcome */
function cell(outcome) {
  if (outcome === undefined) return 'not tested';
  const { verdict, note } = outcome;
  if (note === undefined) return verdict;
  if (!notes.includes(note)) notes.push(note);
  return `${verdict} [${notes.indexOf(note) + 1}]`;
}

/** The name of the row says what the version alone does not. @param {Row} row */
function nameOf({ client, versions }) {
  const [, part] = client.split(': ');
  const packages = versions.map((version) => `\`${version}\``).join(' + ');
  return part === undefined ? packages : `${packages}, ${part}`;
}

const table = [
  ['client', ...Object.values(columns)],
  ['---', ...Object.keys(columns).map(() => '---')],
  ...rows.map((row) => [nameOf(row), ...Object.keys(columns).map((name) => cell(row[name]))]),
].map((cells) => `| ${cells.join(' | ')} |`);

const versions = [...new Set(rows.map(({ node }) => node))].sort().join(', ');

writeFileSync(
  join(root, 'docs', 'clients.md'),
  `# Clients

What each client does inside a scope, found out by the tests in \`test/third-party\` on Node ${versions}
with the real packages. This page is made by \`scripts/clients-doc.mjs\`.

- **captured**: its calls go into a batch, and each caller gets its own answer.
- **outlives its own timeout**: the client's timeout strikes while the batch is under way, and the
  answer arrives all the same; the call is made and paid for once.
- **abort works at once**: an abort that does not come from a timer rejects the call at once with the
  client's own error, and the other calls go on.
- **streams**: a streamed answer is told in pieces that the client's own helpers accept.
- **errors map**: a failed item raises the client's own error with the provider's status, and costs no
  more than the \`attempts\` of the scope, however often the client tries again.

${table.join('\n')}

${notes.map((note, at) => `[${at + 1}] ${note}`).join('\n\n')}

## Timeouts and aborts

A batch takes longer than any client's timeout, so an abort that comes straight from a timer does not end a captured
call: \`setTimeout(() => controller.abort(), …)\`, \`AbortSignal.timeout\`, the same inside of \`AbortSignal.any\` or a
\`Request\`, a socket that a timer closes.

- **The client may come back.** From then on, until that client has read its answer, whoever asks the same in this
  run gets the same request instead of paying for another one, however late it comes. A client that reads a \`clone()\`
  of the answer, as tools that log do, has not read it.
- **The abort is deferred, not lost.** The signal shows it when every captured call that uses it has been answered
  and read: at the next turn after \`json()\` or \`text()\`, 10 seconds after the end of a stream, a second after an answer that
  nobody reads. So \`while (!signal.aborted)\` ends. A further call on that signal is not sent any more: it waits
  for the abort and is rejected with its reason.
- **A \`fetch\` that is not captured** and shares the signal hears the timer at once. Everything else that listens to the signal of a
  controller hears it when it is delivered; to \`AbortSignal.timeout\` at once.
- **An abort from anywhere else cancels at once**, also after a timer's was deferred. So does a timer of yours that
  reaches the client's own controller through your signal (with \`hooks: false\` it counts as a timeout). One exception: a
  \`Request\` made with \`AbortSignal.any\` hears nothing more after its timeout.
- **A promise that is raced away without an abort is not seen**: \`Promise.race([ask(), sleep(60_000)])\`. Asking again
  is then another sample, and is paid for. Let the same timer abort a signal that the call was given, send the same
  \`idempotency-key\` with each try, or leave the timeout out. A call that goes on to read its answer behind a promise
  that was raced away counts as answered.
- **One signal with a time limit for a whole job** (the steps of an agent) ends it after the first answer that comes
  later than the limit. Leave it out; the limit of a batched call is the option \`deadline\`.

## What the hooks do not reach

What goes out at full price is reported, each reason with its cure: see [bypasses.md](bypasses.md). Mocking tools:
see [testing.md](testing.md).

- A client made before batchling was loaded keeps the \`fetch\` it found. It is seen when its call leaves, and
  reported with its two cures: \`node --import batchling/register\`, or \`fetch: scope.fetch\`. The official
  SDKs take their \`fetch\` when a client is made, so within one module the order of imports does not matter.
- npm \`undici\`, the option \`createConnection\` without an agent, and agents that bring their own \`addRequest\`
  (agent-base 6, the old https-proxy-agent) have their own way to the network. Where Node tells about it, it is reported; \`bypass: "error"\` cannot hold back what is seen only when it leaves.
- Over \`node:http2\` these are neither captured nor seen: \`connect\` taken out of the module by name, a session that was opened before its scope, and one with a \`createConnection\` of its
  client (npm \`undici\`, which is reported as above, \`http2: true\` of got, grpc-js).
- A client on \`node:https\` that checks the certificate of its server before it writes is passed through, and reported. One that looks only
  at its response finds \`authorized: false\` at the socket of a batched answer.
- Context is kept through promises, timers, queues such as p-limit and p-queue, streams and generators.
  It is lost in callbacks that somebody else calls: listeners of an emitter, jobs of a worker pool that was
  started elsewhere. \`scope.bind(fn)\` gives it back; \`batchling/register\` needs none of it.
- A signal shared by many calls of an SDK makes Node warn at the eleventh, with and without batchling:
  \`events.setMaxListeners(0, signal)\` silences it.
- Node forgets that a \`Request\` made by \`request.clone()\` follows a signal once the original is collected as garbage.
  \`@mistralai/mistralai\` clones every request, so an abort that comes long after its call may not be heard.
`,
);
