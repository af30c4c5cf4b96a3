import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatDuration } from '../../base/duration.ts';
import { messageOf } from '../../base/errors.ts';
import { isDatabase, shownStore } from '../../base/store-address.ts';
import type { BatchSummary, Ledger } from '../../ledger/ledger.ts';
import { migrations } from '../../ledger/sqlite/schema/migrate.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { counted, number } from '../../report/text/summary.ts';
import { bytesOf } from '../print/batch-words.ts';
import { noLedger, openExisting, withLedger } from '../store/open-store.ts';
import type { Finding } from './finding.ts';

const littleSpace = 500_000_000;
/** A clock that was set back by less does no harm. */
const clockTolerance = 60_000;

/** What can be said of the ledger, its disk, and the clock that it was written by. */
export async function ledgerFindings(options: ResolvedOptions): Promise<Finding[]> {
  const { store, clock } = options;
  let ledger: Ledger | undefined;
  try {
    ledger = await openExisting(options);
  } catch (error) {
    return [{ level: 'bad', about: 'ledger', text: messageOf(error) }];
  }
  if (ledger === undefined) return [{ level: 'ok', about: 'ledger', text: noLedger(options) }];
  return withLedger(ledger, async (opened) => {
    const [newest] = await opened.list({ limit: 1 });
    return [
      isDatabase(store) ? database(store) : file(store),
      await openBatches(opened),
      ...(isDatabase(store) ? [] : await disk(store)),
      ...(newest ? [clockOf(newest, clock.now())] : []),
    ];
  });
}

function file(store: string): Finding {
  const size = ['', '-wal'].reduce(
    (total, suffix) =>
      total + (statSync(`${store}${suffix}`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const isPrivate = (statSync(store).mode & 0o077) === 0 || process.platform === 'win32';
  const text = `${store}, ${bytesOf(size)}, schema ${migrations.newest}`;
  if (isPrivate) return { level: 'ok', about: 'ledger', text };
  const advice = `Others can read it: chmod 600 ${store}`;
  return { level: 'warn', about: 'ledger', text, advice };
}

function database(store: string): Finding {
  return { level: 'ok', about: 'ledger', text: shownStore(store) };
}

async function openBatches(ledger: Ledger): Promise<Finding> {
  const open = await ledger.unfinished();
  const left = open.filter(({ owner }) => owner === undefined);
  if (left.length === 0) {
    const text = open.length === 0 ? 'none is open' : `${number(open.length)} under way`;
    return { level: 'ok', about: 'batches', text };
  }
  return {
    level: 'warn',
    about: 'batches',
    text: `${counted(left.length, 'open batch', 'open batches')} without a process that waits`,
    advice: '`batchling collect` fetches the answers; so does running the program again.',
  };
}

async function disk(store: string): Promise<Finding[]> {
  try {
    const { bavail, bsize } = await statfs(dirname(store));
    const free = bavail * bsize;
    const text = `${bytesOf(free)} free`;
    if (free >= littleSpace) return [{ level: 'ok', about: 'disk', text }];
    const advice = 'Free some space, or make the ledger smaller: batchling prune --max-size 500MB';
    return [{ level: free === 0 ? 'bad' : 'warn', about: 'disk', text, advice }];
  } catch {
    return [];
  }
}

function clockOf({ createdAt, acceptedAt, endedAt }: BatchSummary, now: number): Finding {
  const ahead = Math.max(createdAt, acceptedAt ?? 0, endedAt ?? 0) - now;
  if (ahead <= clockTolerance) {
    return { level: 'ok', about: 'clock', text: 'not before the newest entry of the ledger' };
  }
  return {
    level: 'warn',
    about: 'clock',
    text: `${formatDuration(ahead)} behind the newest entry of the ledger`,
    advice: 'Set the clock of this machine: ages and deadlines are measured by it.',
  };
}
