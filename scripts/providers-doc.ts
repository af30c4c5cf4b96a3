// Prints docs/providers.md from the batchers themselves: `npm run docs:providers`.
import type { Batcher, Limits } from '../src/batchers/batcher.ts';
import type { Setting } from '../src/batchers/provider-info.ts';
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
      windowsOf(limits),
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
      ? [`Polled every ${limits.pollMinimum / 1000} seconds at most.`]
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

function windowsOf({ windows }: Limits): string {
  return Object.entries(windows)
    .map(([duration, { priceShare }]) => `${duration}: ${priceOf(priceShare)}`)
    .join('<br>');
}

function priceOf(share: number): string {
  return share < 1 ? `${Math.round((1 - share) * 100)} % off` : 'no discount but for some models';
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
