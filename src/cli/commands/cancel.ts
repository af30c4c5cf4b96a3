import { hostname } from 'node:os';
import type { Command } from 'commander';
import { messageOf } from '../../base/errors.ts';
import { createHttpClient, type HttpClient } from '../../http/client.ts';
import type { BatchSummary, Ledger, OpenBatch } from '../../ledger/ledger.ts';
import { counted } from '../../report/text/summary.ts';
import { exitCodes } from '../exit-codes.ts';
import { byToken } from '../print/batch-json.ts';
import { stateWords } from '../print/batch-words.ts';
import { confirm } from '../print/confirm.ts';
import { print, printJson } from '../print/output.ts';
import { findBatch } from '../store/find-batch.ts';
import { readCredentialFlags } from '../store/find-credential.ts';
import { addLedgerFlags, credentialFlag } from '../store/ledger-flags.ts';
import {
  type LedgerFlags,
  noLedger,
  openExisting,
  optionsFor,
  withLedger,
} from '../store/open-store.ts';
import { Reachable } from '../store/reachable.ts';
import { usageError } from '../usage-error.ts';

interface CancelFlags extends LedgerFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly credential?: readonly string[];
}

/** What became of the wish to cancel a batch. */
interface Cancelled {
  readonly id: string;
  readonly outcome: 'cancelling' | 'released' | 'over' | 'failed';
  readonly text: string;
}

export function define(command: Command): void {
  addLedgerFlags(command)
    .argument('[ids...]', 'ids as `ls` shows them, their beginnings, or the ids at the providers')
    .option('--all', 'cancel all batches that are not over')
    .option('--yes', 'do not ask before cancelling all')
    .addOption(credentialFlag())
    .addHelpText('after', examples)
    .action(cancel);
}

const examples = `
What a provider has finished before is paid for and kept: \`batchling collect\`
fetches it. Google Gemini keeps nothing. The callers of a program that still waits get status 499.

Examples:
  $ batchling cancel bl_0123456789abcdef
  $ batchling cancel --all --yes`;

async function cancel(ids: readonly string[], flags: CancelFlags): Promise<void> {
  if (ids.length > 0 === (flags.all === true)) {
    throw usageError('name the batches to cancel, or give --all; `batchling ls --open` lists them');
  }
  const named = readCredentialFlags(flags.credential);
  const options = await optionsFor(flags);
  const ledger = await openExisting(options);
  if (ledger === undefined) throw new Error(noLedger(options));
  const http = createHttpClient({ clock: options.clock, dispatcher: options.dispatcher });
  try {
    await withLedger(ledger, async () => {
      const batches = flags.all ? await ledger.list({ open: true }) : await findAll(ledger, ids);
      if (flags.all && !flags.yes && batches.length > 0) {
        const what = counted(batches.length, 'batch', 'batches');
        if (!(await confirm(`Cancel ${what}?`, true))) return;
      }
      const canceller = { ledger, http, reachable: new Reachable(ledger, options, named) };
      const open = byToken(await ledger.unfinished());
      const outcomes: Cancelled[] = [];
      for (const batch of batches) {
        const outcome = await cancelOne(canceller, batch, open.get(batch.token));
        outcomes.push(outcome);
        if (!flags.json) await print(`${outcome.id}  ${outcome.text}`);
      }
      if (flags.json) await printJson({ batches: outcomes });
      else if (batches.length === 0) await print('No batch is open.');
      if (outcomes.some(({ outcome }) => outcome === 'failed')) process.exitCode = exitCodes.failed;
    });
  } finally {
    await http.close();
  }
}

async function findAll(ledger: Ledger, ids: readonly string[]): Promise<BatchSummary[]> {
  const found: BatchSummary[] = [];
  for (const id of ids) found.push(await findBatch(ledger, id));
  return found;
}

interface Canceller {
  readonly ledger: Ledger;
  readonly http: HttpClient;
  readonly reachable: Reachable;
}

async function cancelOne(
  canceller: Canceller,
  batch: BatchSummary,
  open: OpenBatch | undefined,
): Promise<Cancelled> {
  const { token: id } = batch;
  if (open === undefined) {
    return { id, outcome: 'over', text: `is over already: ${stateWords(batch, false)}` };
  }
  const { state, owner } = open;
  if (state === 'accepted') return cancelAtProvider(canceller, open);
  const failed = (text: string) => ({ id, outcome: 'failed', text }) as const;
  if (owner) {
    return failed(
      `is just being sent by process ${owner.pid} on ${owner.host}: try again in a moment, or stop ` +
        'that program',
    );
  }
  if (state === 'creating') {
    return failed(
      'may be at the provider or not: `batchling collect` finds out, then it can be cancelled',
    );
  }
  return release(canceller, open);
}

/** No lease is needed to ask the provider; the program that waits for the batch sees that it is cancelled. */
async function cancelAtProvider(
  { http, reachable }: Canceller,
  open: OpenBatch,
): Promise<Cancelled> {
  const { token: id, remoteId, queue, owner } = open;
  const reach = await reachable.reach(open);
  if ('obstacle' in reach || remoteId === undefined) {
    const why = 'obstacle' in reach ? reach.obstacle : 'the provider has given it no id';
    return { id, outcome: 'failed', text: `cannot be cancelled: ${why}` };
  }
  const { batcher, headers } = reach;
  const credentials = { headers: headers.secrets, query: headers.query };
  const origins = batcher.origins(queue.base);
  const wire = http.wire({ base: queue.base, origins, credentials: () => credentials });
  try {
    await batcher.cancel(wire, { id: remoteId });
  } catch (error) {
    const said = wire.redact(messageOf(error));
    const text = `could not be cancelled: ${said} \`batchling collect\` sees what became of it.`;
    return { id, outcome: 'failed', text };
  }
  const { cancelLosesWork } = batcher.info;
  const kept = cancelLosesWork
    ? `${queue.provider} keeps nothing of it, what was finished is lost although it is paid for`
    : '`batchling collect` fetches what was finished';
  const next = owner ? `process ${owner.pid} on ${owner.host} is told` : kept;
  return { id, outcome: 'cancelling', text: `is being cancelled at ${queue.provider}; ${next}` };
}

/** The batch never reached the provider: its requests are free for the next program that asks for them. */
async function release({ ledger }: Canceller, { id, token }: OpenBatch): Promise<Cancelled> {
  const owner = await ledger.join({ run: token, host: hostname(), pid: process.pid });
  const claimed = await ledger.claim(owner, id);
  if (claimed === undefined) {
    return { id: token, outcome: 'failed', text: 'was taken over by another process just now' };
  }
  await ledger.released(claimed.lease);
  return { id: token, outcome: 'released', text: 'was never sent, and will not be' };
}
