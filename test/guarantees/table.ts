import type { Fate, FaultCase, Provider } from './fault-case.ts';

/** What a run has found out about one fault at one provider. */
export interface Finding {
  readonly fault: string;
  readonly provider: Provider;
  /** Missing when the test failed: then nothing is known for sure. */
  readonly cells?: Cells;
}

/** The caller's outcome, the executions, the requests sent again. */
export type Cells = readonly [string, string, string];

export const columns = [
  'fault',
  'provider',
  'what its caller gets',
  'executions per request',
  'requests sent again',
];

export const unknown: Cells = ['its test fails', '', ''];

export function keyOf(fault: string, provider: string): string {
  return `${fault} (${provider})`;
}

/** Requests that fare alike share a line of a cell. */
export function cellsOf(fates: readonly Fate[], sentAgain: number): Cells {
  return [grouped(fates.map(outcomeText)), grouped(fates.map(executionText)), String(sentAgain)];
}

function grouped(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  if (counts.size === 1) return texts[0] as string;
  return [...counts].map(([text, count]) => `${count} of ${texts.length}: ${text}`).join('<br>');
}

function outcomeText({ outcome }: Fate): string {
  return outcome === 'its answer' ? outcome : outcome.replace(/ (.*)/, ' `$1`');
}

function executionText({ billed, unbilled }: Fate): string {
  if (unbilled === 0) return String(billed);
  return billed === 0 ? `${unbilled} not billed` : `${billed}, and ${unbilled} not billed`;
}

/** The lines of the table, in the order of the cases. Providers that fare alike share one. */
export function tableOf(cases: readonly FaultCase[], findings: readonly Finding[]): string[] {
  const found = new Map(
    findings.map(({ fault, provider, cells }) => [keyOf(fault, provider), cells ?? unknown]),
  );
  const rows: string[][] = [];
  for (const fault of new Set(cases.map((each) => each.fault))) {
    const alike = new Map<string, { providers: Provider[]; cells: Cells }>();
    const providers = cases.flatMap((each) => (each.fault === fault ? each.providers : []));
    for (const provider of providers) {
      const cells = found.get(keyOf(fault, provider));
      if (cells === undefined) throw new Error(`The run knows nothing of ${fault}, ${provider}`);
      const group = alike.get(cells.join('|')) ?? { providers: [], cells };
      group.providers.push(provider);
      alike.set(cells.join('|'), group);
    }
    for (const group of alike.values()) {
      rows.push([fault, group.providers.join(', '), ...group.cells]);
    }
  }
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** The findings a page tells, by fault and provider. */
export function readTable(page: string): Map<string, Cells> {
  const told = new Map<string, Cells>();
  for (const line of page.split('\n')) {
    const [fault, providers, ...cells] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (fault === undefined || fault === columns[0] || fault === '---') continue;
    for (const provider of providers?.split(', ') ?? []) {
      told.set(keyOf(fault, provider), cells as unknown as Cells);
    }
  }
  return told;
}
