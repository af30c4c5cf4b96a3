import type { CostRowJson, MoneyJson } from '../../api-types.ts';
import { DayChart, Legend } from '../parts/chart.tsx';
import { Choice } from '../parts/choice.tsx';
import { Empty, Figure, Pending, Title } from '../parts/pieces.tsx';
import { Words } from '../parts/plain-text.tsx';
import { go, href } from '../route.ts';
import { useAnswer } from '../server.ts';
import { counted, dollars, known, number } from '../words.ts';

const groups = [
  ['model', 'model'],
  ['day', 'day'],
  ['provider', 'provider'],
  ['name', 'name'],
  ['tag', 'tag'],
] as const;

const spans = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
] as const;

export function MoneyScreen({ query }: { query: URLSearchParams }) {
  const by = query.get('by') ?? 'model';
  const days = query.get('days') ?? '30';
  const asked = useAnswer<MoneyJson>(
    `money?by=${encodeURIComponent(by)}&days=${encodeURIComponent(days)}`,
  );
  const set = (change: Readonly<Record<string, string>>) =>
    go(href('money', '', { by, days, ...change }));
  return (
    <>
      <Title text="Money" />
      <form
        class="filters"
        aria-label="What is added up"
        onSubmit={(event) => event.preventDefault()}
      >
        <Choice label="The last" value={days} all={spans} choose={(text) => set({ days: text })} />
        <Choice
          label="A row for each"
          value={by}
          all={groups}
          choose={(text) => set({ by: text })}
        />
      </form>
      {asked.value === undefined ? (
        <Pending asked={asked} />
      ) : (
        <Money money={asked.value} by={by} />
      )}
    </>
  );
}

function Money({
  money: { total, days, rows, lanes, since, until },
  by,
}: {
  money: MoneyJson;
  by: string;
}) {
  if (total === undefined || total.calls === 0) {
    return (
      <Empty title="Nothing was paid">
        <p>
          No call of these days has an answer with a cost. Answers from the ledger cost nothing.
        </p>
      </Empty>
    );
  }
  const { paid, saved, calls, unpriced } = total;
  return (
    <>
      <section class="figures money-figures" aria-label="In all">
        <Figure label="Paid" value={known(total, paid)} note={counted(calls, 'call')} />
        <Figure
          label="Saved"
          value={known(total, saved)}
          note={shareOf(saved, paid + saved, 'of the list price')}
        />
        <Figure
          label="Estimated"
          value={total.estimate > 0 ? dollars(total.estimate) : '–'}
          note={
            total.estimate > 0 ? `at most; ${dollars(total.estimated)} were paid for these` : ''
          }
        />
        <Figure
          label="Tokens"
          value={number(total.inputTokens + total.outputTokens)}
          note={`${number(total.outputTokens)} of them out`}
        />
      </section>
      {unpriced > 0 && (
        <p class="note">
          {counted(unpriced, 'call has', 'calls have')} no known price, and{' '}
          {unpriced === 1 ? 'is' : 'are'} missing in the dollars.
        </p>
      )}
      <section class="card" aria-label="Each day">
        <h2>Each day (UTC)</h2>
        <DayChart days={days} since={since} until={until} />
        <Legend />
      </section>
      <CostTable title={groups.find(([key]) => key === by)?.[1] ?? by} rows={rows} />
      {lanes.length > 1 && <CostTable title="lane" rows={lanes} />}
      {by === 'tag' && <p class="quiet">A call with several tags is in the rows of all of them.</p>}
    </>
  );
}

/** What to see in a row, and how; what matters most stands first, because a narrow page shows no more. */
const columns: readonly (readonly [head: string, cell: (row: CostRowJson) => string])[] = [
  ['Paid', (row) => known(row, row.paid)],
  ['Saved', (row) => known(row, row.saved)],
  ['Estimate', ({ estimate }) => (estimate > 0 ? dollars(estimate) : '')],
  ['Calls', ({ calls }) => number(calls)],
  ['Tokens in', ({ inputTokens }) => number(inputTokens)],
  ['From cache', ({ cacheReadTokens: read }) => (read > 0 ? number(read) : '')],
  ['To cache', ({ cacheWriteTokens: written }) => (written > 0 ? number(written) : '')],
  ['Tokens out', ({ outputTokens }) => number(outputTokens)],
];

/** Columns that say nothing are left out. */
function CostTable({ title, rows }: { title: string; rows: readonly CostRowJson[] }) {
  const used = columns.filter(([, cell]) => rows.some((row) => cell(row) !== ''));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the page is moved by keys.
    <section class="scroll" aria-label={`By ${title}`} tabIndex={0}>
      <table class="list costs">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {used.map(([head]) => (
              <th key={head} scope="col" class="end">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.label}>
              <th scope="row">
                <Words text={row.label} />
              </th>
              {used.map(([head, cell]) => (
                <td key={head} class="end">
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function shareOf(part: number, whole: number, of: string): string {
  return part > 0 && whole > 0 ? `${Math.round((100 * part) / whole)} % ${of}` : '';
}
