import { invalid } from '../openai-like/errors.ts';
import type { NewFile, StoredFile } from '../openai-like/files/files.ts';
import { Refusal } from '../server/exchange.ts';
import type { World } from '../world/world.ts';

const fourteenDays = 14 * 24 * 3600;
const thirtyDays = 30 * 24 * 3600;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** The documentation writes `expires_after.seconds`, SDKs write `expires_after[seconds]`. */
export function lifetimeOf(form: ReadonlyMap<string, string>): number {
  const given = (name: string) =>
    form.get(`expires_after[${name}]`) ?? form.get(`expires_after.${name}`);
  const anchor = given('anchor');
  const seconds = given('seconds');
  if (anchor === undefined && seconds === undefined) return Number.POSITIVE_INFINITY;
  if (anchor !== 'created_at') throw invalid('expires_after.anchor', "must be 'created_at'.");
  const value = Number(seconds);
  if (!Number.isInteger(value) || value < fourteenDays || value > thirtyDays) {
    throw invalid('expires_after.seconds', `must be from ${fourteenDays} to ${thirtyDays}.`);
  }
  return value;
}

/** Files that have an end are counted apart, and there may be twenty times as many. */
export function admitFile(
  { lifetime }: Omit<NewFile, 'account'>,
  others: readonly StoredFile[],
  { settings }: World,
): void {
  const withoutEnd = settings.limits.azure?.files ?? 500;
  const hasEnd = (seconds: number | undefined) => Number.isFinite(seconds);
  const limit = hasEnd(lifetime) ? 20 * withoutEnd : withoutEnd;
  const inputs = others.filter(({ purpose }) => purpose === 'batch');
  const alike = inputs.filter((file) => hasEnd(file.lifetime) === hasEnd(lifetime));
  if (alike.length < limit) return;
  const kind = hasEnd(lifetime) ? 'with' : 'without';
  const message = `The resource has used up its quota for files ${kind} expiry (${limit}).`;
  throw new Refusal(400, message, { code: 'quotaExceeded' });
}

/** Files are looked through after they were stored, and a byte order mark makes them invalid. */
export function fileStatus({ purpose, createdAt, chunks }: StoredFile, world: World): string {
  if (purpose !== 'batch') return 'processed';
  if (world.clock.now() - createdAt < world.settings.fileProcessing) return 'pending';
  return chunks[0]?.subarray(0, 3).equals(byteOrderMark) ? 'error' : 'processed';
}
