import type { BatchSummary, Ledger } from '../../ledger/ledger.ts';

const prefix = 'bl_';
const mostShown = 5;

/** The batch with this id, here or at the provider, or the only one whose id begins like this. */
export async function findBatch(ledger: Ledger, id: string): Promise<BatchSummary> {
  const exact = id === '' ? undefined : await ledger.show(id);
  const named = exact ?? (id.includes('/') ? await ledger.show(lastPart(id)) : undefined);
  if (named) return named;
  const all = await ledger.list();
  const found = id === '' ? [] : all.filter((batch) => idsOf(batch).some((one) => begins(one, id)));
  if (found.length === 1) return found[0] as BatchSummary;
  throw new Error(found.length > 1 ? ambiguous(id, found) : unknown(id, all));
}

/** Each batch once, whatever ids it was named by. */
export async function findBatches(ledger: Ledger, ids: readonly string[]): Promise<BatchSummary[]> {
  const found = new Map<string, BatchSummary>();
  for (const id of ids) {
    const batch = await findBatch(ledger, id);
    found.set(batch.token, batch);
  }
  return [...found.values()];
}

/** Some providers show their batches by a path: `batches/abc`, `projects/…/batchPredictionJobs/123`. */
function lastPart(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

function begins(known: string, given: string): boolean {
  return known.startsWith(given) || known.startsWith(`${prefix}${given}`);
}

function idsOf({ token, remoteId }: BatchSummary): string[] {
  return remoteId === undefined ? [token] : [token, remoteId];
}

function ambiguous(id: string, found: readonly BatchSummary[]): string {
  const more = found.length > mostShown ? ` and ${found.length - mostShown} more` : '';
  return `${found.length} batches begin with "${id}": ${listed(found)}${more}.`;
}

function unknown(id: string, all: readonly BatchSummary[]): string {
  const said = `No batch of the ledger has the id "${id}".`;
  if (all.length === 0) return `${said} The ledger has none at all.`;
  return `${said} The newest are ${listed(all)}; \`batchling ls\` shows more.`;
}

function listed(batches: readonly BatchSummary[]): string {
  return batches
    .slice(0, mostShown)
    .map(({ token }) => token)
    .join(', ');
}
