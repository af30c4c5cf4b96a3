// Prints docs/providers.md from the batchers themselves: `npm run docs:providers`.

import { parseDuration } from '../src/base/duration.ts';
import type { Batcher, Limits } from '../src/batchers/batcher.ts';
import { whyUnbatched } from '../src/batchers/llm-wires.ts';
import type { Setting } from '../src/batchers/provider-info.ts';
import type { ProviderNotes } from '../src/batchers/provider-notes.ts';
import { registeredBatchers } from '../src/batchers/registry.ts';
import { commonSettings } from '../src/options/providers.ts';

/** The page, as it must stand in docs/providers.md. */
export async function providersPage(): Promise<string> {
  const batchers = await Promise.all(registeredBatchers().map((registered) => registered.load()));
  return [
    '# Providers',
    '',
    'Every provider that batchling has batches for, as its batcher knows it. This page is made from the batchers',
    '(`npm run docs:providers`), so it says what the code does. Limits and prices move: what is different for your',
    'account goes into the settings `limits` and `priceShare` below.',
    '',
    ...overview(batchers),
    '',
    ...settingsPart(),
    ...batchers.flatMap(section),
    ...withoutBatches(),
  ].join('\n');
}

function overview(batchers: readonly Batcher[]): string[] {
  const rows = batchers.map((batcher) => {
    const { info } = batcher;
    const limits = limitsOf(batcher);
    return [
      `[${titleOf(batcher)}](#${info.name})`,
      `\`${info.name}\``,
      info.endpoints.map((path) => `\`${path}\``).join('<br>'),
      `${number(limits.items)}<br>${megabytes(limits.bytes)}`,
      windowsOf(limits, batcher.notes),
      info.exactlyFindable ? `exactly: ${foundBy(batcher)}` : `best effort: ${foundBy(batcher)}`,
    ];
  });
  return table(
    ['provider', 'name', 'endpoints', 'most in a batch', 'windows and price', 'found again'],
    rows,
  );
}

function section(batcher: Batcher): string[] {
  const { info, notes } = batcher;
  const limits = limitsOf(batcher);
  const facts = [
    `Hosts: ${list(info.hosts)}. Key: ${list(info.environment)}.`,
    `A batch holds ${number(limits.items)} requests or ${megabytes(limits.bytes)} at most, ` +
      `one request ${megabytes(limits.itemBytes)}; batchling sends ${number(limits.recommendedItems)} ` +
      `at a time unless \`batchSize\` says otherwise, and keeps ${number(limits.inFlight)} batches under way.`,
    ...(info.unbatched ? [`Not batched, and reported: ${list(info.unbatched)}.`] : []),
    ...(limits.pollMinimum > 0
      ? [`Looked at every ${limits.pollMinimum / 1000} seconds at most.`]
      : []),
    ...(notes?.discounts ? [notes.discounts] : []),
    ...(notes?.remarks ?? []),
  ];
  const open = notes?.unconfirmed ?? [];
  return [
    `## <a id="${info.name}"></a>${titleOf(batcher)}`,
    '',
    ...facts.map((fact) => `- ${fact}`),
    '',
    ...(info.settings ? [...settingsTable(info.settings), ''] : []),
    ...(open.length > 0
      ? ['Not confirmed by its documentation:', '', ...open.map((fact) => `- ${fact}`), '']
      : []),
  ];
}

/** Services that are asked for, and why they are not here. */
function withoutBatches(): string[] {
  return [
    '## <a id="without-batches"></a>Without batches here',
    '',
    'Calls to these go out as they are and are reported, each with its reason ([bypasses.md](bypasses.md)).',
    '',
    ...table(['service', 'why'], Object.entries(whyUnbatched)),
    '',
  ];
}

function settingsPart(): string[] {
  return [
    '## Settings',
    '',
    'The option `providers` holds settings by provider name: `providers: { openai: { limits: { requests: 20000 } } }`. Every',
    'provider has these; what only one has stands with it below.',
    '',
    ...settingsTable(commonSettings),
    '',
  ];
}

function settingsTable(settings: Readonly<Record<string, Setting>>): string[] {
  return table(
    ['setting', 'what it is for', 'allowed'],
    Object.entries(settings).map(([name, { help, allowed }]) => [`\`${name}\``, help, allowed]),
  );
}

/** Of the endpoint that is named first; others may have smaller ones. */
function limitsOf(batcher: Batcher): Limits {
  const [endpoint = ''] = batcher.info.endpoints;
  return batcher.limits({ endpoint: `/v1${endpoint}`, model: '' });
}

/** Windows of one price share a line: `24h … 7d: 50 % off`. */
function windowsOf({ windows }: Limits, notes: ProviderNotes | undefined): string {
  const byShare = new Map<number, string[]>();
  for (const [duration, { priceShare }] of Object.entries(windows)) {
    byShare.set(priceShare, [...(byShare.get(priceShare) ?? []), duration]);
  }
  return [...byShare]
    .map(([share, durations]) => `${spanOf(durations)}: ${priceOf(share, notes)}`)
    .join('<br>');
}

function spanOf(durations: readonly string[]): string {
  if (durations.length < 4) return durations.join(', ');
  const sorted = durations.toSorted((a, b) => parseDuration(a) - parseDuration(b));
  return `${sorted[0]} … ${sorted.at(-1)}`;
}

function priceOf(share: number, notes: ProviderNotes | undefined): string {
  if (share < 1) return `${Math.round((1 - share) * 100)} % off`;
  return notes?.discounts ? 'a discount for some models only' : 'no discount known';
}

function foundBy({ notes }: Batcher): string {
  return notes?.foundBy ?? '';
}

function titleOf({ notes, info }: Batcher): string {
  return notes?.title ?? info.name;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function megabytes(bytes: number): string {
  return bytes >= 1e9 ? `${bytes / 1e9} GB` : `${Math.round(bytes / 1e6)} MB`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  process.stdout.write(await providersPage());
}
