import { formatDuration } from '../../base/duration.ts';
import { leftOutReason, type Stats } from '../../orchestrator/model/stats.ts';
import { dollars } from '../../pricing/dollars.ts';

export { dollars };

/** `saved $0.42 (50%), paid $0.42`: the percentage compares it with the list price of the same answers. */
export function moneyText({
  dollars: { paid, saved },
}: Pick<Stats, 'dollars'>): string | undefined {
  const text = paid > 0 ? `paid ${dollars(paid)}` : undefined;
  if (saved <= 0) return text;
  return `saved ${dollars(saved)} (${Math.round((100 * saved) / (paid + saved))}%), ${text}`;
}

/** One line: what was saved, and what happened. */
export function summaryLine(stats: Stats): string {
  const parts = [answeredText(stats, stats.captured === 1 ? ' call' : ' calls')];
  if (stats.fromLedger > 0) parts.push(`${number(stats.fromLedger)} from the ledger`);
  if (stats.retried > 0) parts.push(`${counted(stats.retried, 'retry', 'retries')}`);
  if (stats.flex > 0) parts.push(`${number(stats.flex)} in flex`);
  parts.push(...fullPrice(stats));
  if (stats.batches.submitted > 0) parts.push(counted(stats.batches.submitted, 'batch', 'batches'));
  else if (stats.fromLedger > 0 && stats.fromLedger === stats.answered)
    parts.push('nothing was sent');
  if (stats.batches.slow > 0)
    parts.push(`${counted(stats.batches.slow, 'slow batch', 'slow batches')}`);
  const { input, output } = stats.tokens;
  if (input + output > 0) parts.push(`${number(input)} tokens in, ${number(output)} out`);
  const twice = paidTwiceText(stats);
  if (twice !== undefined) parts.push(twice);
  const money = moneyText(stats);
  return `${money === undefined ? '' : `${money}: `}${parts.join(', ')}`;
}

/** `1 call may have been paid twice` */
export function paidTwiceText({
  maybePaidTwice,
}: Pick<Stats, 'maybePaidTwice'>): string | undefined {
  if (maybePaidTwice === 0) return undefined;
  return `${counted(maybePaidTwice, 'call')} may have been paid twice`;
}

/** `60 calls answered`, `0 of 60 calls answered, 60 failed`: readers do not take an error for an answer. */
export function answeredText(
  { captured, answered, failed }: Pick<Stats, 'captured' | 'answered' | 'failed'>,
  noun = '',
): string {
  const good = answered - failed;
  if (good === captured) return `${number(good)}${noun} answered`;
  const text = `${number(good)} of ${number(captured)}${noun} answered`;
  return failed > 0 ? `${text}, ${number(failed)} failed` : text;
}

/** Calls that were not batched. The cost of bypassed ones is unknown: their answers are not read. */
function fullPrice({
  realtime,
  bypassed,
  heldBack,
  bypassReasons,
  dollars: { realtime: cost },
}: Stats) {
  const parts: string[] = [];
  const price = cost > 0 ? ` (${dollars(cost)})` : '';
  // Calls that `only` leaves out are already among those that are held back.
  const leftOut = heldBack > 0 ? 0 : (bypassReasons[leftOutReason] ?? 0);
  const others = bypassed - heldBack - leftOut;
  if (realtime > 0) parts.push(`${number(realtime)} in realtime at full price${price}`);
  if (others > 0) parts.push(`${number(others)} bypassed at full price`);
  if (leftOut > 0) parts.push(`${number(leftOut)} ${leftOutReason}, at full price`);
  if (heldBack > 0) parts.push(`${number(heldBack)} held back`);
  return parts;
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

export function number(value: number): string {
  return value.toLocaleString('en-US');
}

const minute = 60_000;

/** Whole seconds below two minutes, whole minutes above. */
export function ageText(milliseconds: number): string {
  const unit = milliseconds < 2 * minute ? 1_000 : minute;
  return formatDuration(Math.round(milliseconds / unit) * unit).replace(/^0ms$/, '0s');
}
