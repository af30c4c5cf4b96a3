import type { Stats } from '../../orchestrator/model/stats.ts';
import { printable } from '../terminal/terminal.ts';
import {
  ageText,
  answeredText,
  counted,
  dollars,
  moneyText,
  number,
  paidTwiceText,
} from './summary.ts';

/** How many reasons or names of a list are shown. */
const mostNames = 3;

/** The whole account of a run, a line for each thing that happened. What did not happen is left out. */
export function summaryLines(stats: Stats, milliseconds: number): string[] {
  const rows: (readonly [label: string, text: string | undefined])[] = [
    ['failures', withReasons(stats.failed, '', stats.failures)],
    ['batches', batchesText(stats)],
    ['from ledger', atLeastOne(stats.fromLedger)],
    ['flex', flexText(stats)],
    ['realtime', realtimeText(stats)],
    ['bypassed', withReasons(stats.bypassed, bypassedText(stats), stats.bypassReasons)],
    ['retries', atLeastOne(stats.retried)],
    ['paid twice?', paidTwiceText(stats)],
    ['tokens', tokensText(stats)],
    ['cache', cacheText(stats)],
    ['no price', namesText(stats.unpriced)],
  ];
  const shown = rows.filter((row): row is [string, string] => row[1] !== undefined);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  const money = moneyText(stats);
  const end = stats.answered < stats.captured ? 'ended after' : 'done in';
  return [
    ...(money === undefined ? [] : [money]),
    `${end} ${ageText(milliseconds)}: ${answeredText(stats, stats.captured === 1 ? ' call' : ' calls')}`,
    ...shown.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`),
  ];
}

function batchesText({ batches: { submitted, slow } }: Stats): string | undefined {
  const parts = [atLeastOne(submitted), slow > 0 ? `${number(slow)} slow` : undefined];
  const shown = parts.filter((part) => part !== undefined);
  return shown.length === 0 ? undefined : shown.join(', ');
}

function atLeastOne(count: number): string | undefined {
  return count > 0 ? number(count) : undefined;
}

function realtimeText({ realtime, dollars: { realtime: cost } }: Stats): string | undefined {
  if (realtime === 0) return undefined;
  return `${number(realtime)} at full price${cost > 0 ? ` (${dollars(cost)})` : ''}`;
}

function flexText({ flex, dollars: { flex: cost } }: Stats): string | undefined {
  if (flex === 0) return undefined;
  return `${number(flex)} one by one${cost > 0 ? ` (${dollars(cost)})` : ''}`;
}

function bypassedText({ bypassed, heldBack }: Stats): string {
  if (heldBack === 0) return 'at full price';
  return heldBack === bypassed ? 'held back' : `at full price, but ${number(heldBack)} held back`;
}

function tokensText({ tokens: { input, output } }: Stats): string | undefined {
  return input + output > 0 ? `${number(input)} in, ${number(output)} out` : undefined;
}

/** `2,189,000 tokens read, 11,000 written` */
function cacheText({ tokens: { cacheRead, cacheWrite } }: Stats): string | undefined {
  if (cacheRead + cacheWrite === 0) return undefined;
  return `${number(cacheRead)} tokens read, ${number(cacheWrite)} written`;
}

/** `4 at full price: the body is not JSON (3), …` */
function withReasons(
  count: number,
  what: string,
  reasons: Readonly<Record<string, number>>,
): string | undefined {
  if (count === 0) return undefined;
  const sorted = Object.entries(reasons).sort(([, one], [, other]) => other - one);
  const texts = sorted.slice(0, mostNames).map(([reason, times]) => {
    const text = printable(reason);
    return sorted.length === 1 ? text : `${text} (${number(times)})`;
  });
  const more = sorted.length - texts.length;
  if (more > 0) texts.push(counted(more, 'other reason'));
  const head = [number(count), what].filter((text) => text !== '').join(' ');
  return texts.length === 0 ? head : `${head}: ${texts.join(', ')}`;
}

/** Models whose price is not known; what they cost is missing from the dollars. */
function namesText(models: Readonly<Record<string, number>>): string | undefined {
  const names = Object.keys(models);
  if (names.length === 0) return undefined;
  const more = names.length - mostNames;
  const shown = names.slice(0, mostNames).map(printable).join(', ');
  return `known for ${shown}${more > 0 ? ` and ${counted(more, 'other model')}` : ''}`;
}
