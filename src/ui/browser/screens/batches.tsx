import { useEffect, useState } from 'preact/hooks';
import type { BatchesJson, BatchJson, ModelsJson } from '../../api-types.ts';
import { Choice } from '../parts/choice.tsx';
import {
  Ago,
  Bar,
  BatchLink,
  BatchName,
  BatchState,
  doneOf,
  Empty,
  FailedOf,
  failedOf,
  Place,
  Tags,
  Title,
  Trouble,
} from '../parts/pieces.tsx';
import { go, href, queryNow } from '../route.ts';
import { useAnswer } from '../server.ts';
import { usePages } from '../use-pages.ts';
import { dollars, number } from '../words.ts';

const states = [
  ['', 'any state'],
  ['open', 'not over'],
  ['running', 'under way'],
  ['waiting', 'not sent yet'],
  ['done', 'ended'],
  ['failed', 'failed'],
  ['unsent', 'never sent'],
] as const;

const filters = ['state', 'provider', 'model', 'name', 'tag'] as const;
type Filter = Readonly<Partial<Record<(typeof filters)[number], string>>>;

export function BatchesScreen({ query }: { query: URLSearchParams }) {
  const filter = filterOf(query);
  const path = href('batches', '', filter).slice(2);
  const pages = usePages<BatchesJson, BatchJson>(path, ({ batches }) => batches);
  const isFiltered = filters.some((name) => filter[name]);
  return (
    <>
      <Title text="Batches" />
      <Filters filter={filter} />
      {pages.error && <Trouble text={pages.error.message} />}
      {pages.items.length > 0 && <Table batches={pages.items} />}
      {pages.items.length === 0 && pages.isDone && (
        <Empty title={isFiltered ? 'No batch is like this' : 'No batches yet'}>
          {isFiltered ? (
            <a href={href('batches')}>Show all batches</a>
          ) : (
            <p>A program in batch mode makes the first one.</p>
          )}
        </Empty>
      )}
      <p class="next">
        {pages.isBusy ? (
          <span class="quiet" role="status">
            Looking …
          </span>
        ) : (
          !pages.isDone && (
            <button type="button" onClick={pages.more}>
              Older ones
            </button>
          )
        )}
      </p>
    </>
  );
}

function filterOf(query: URLSearchParams): Filter {
  return Object.fromEntries(filters.map((name) => [name, query.get(name) ?? '']));
}

function Filters({ filter }: { filter: Filter }) {
  const models = useAnswer<ModelsJson>('models').value ?? [];
  const providers = [...new Set(models.map(({ provider }) => provider))];
  const ofProvider = models.filter(
    ({ provider }) => !filter.provider || provider === filter.provider,
  );
  const names = [...new Set(ofProvider.map(({ model }) => model))];
  // Two fields can be filled before the first takes effect: the address says what is set by now.
  const set = (change: Filter) => go(href('batches', '', { ...filterOf(queryNow()), ...change }));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a search element is not known everywhere.
    <form
      class="filters"
      role="search"
      aria-label="Filter the batches"
      onSubmit={(event) => event.preventDefault()}
    >
      <Choice label="State" value={filter.state} all={states} choose={(state) => set({ state })} />
      <Choice
        label="Provider"
        value={filter.provider}
        all={[['', 'any provider'], ...providers.map((one) => [one, one] as const)]}
        choose={(provider) => set({ provider, model: '' })}
      />
      <Choice
        label="Model"
        value={filter.model}
        all={[['', 'any model'], ...names.map((one) => [one, one] as const)]}
        choose={(model) => set({ model })}
      />
      <Field label="Name" value={filter.name} hint="a part of it" enter={(name) => set({ name })} />
      <Field label="Tag" value={filter.tag} hint="team=search" enter={(tag) => set({ tag })} />
    </form>
  );
}

interface FieldGiven {
  readonly label: string;
  readonly value: string | undefined;
  readonly hint: string;
  enter(value: string): void;
}

/** Takes effect when the reader pauses. */
function Field({ label, value = '', hint, enter }: FieldGiven) {
  const [text, set] = useState(value);
  useEffect(() => set(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const pause = setTimeout(() => enter(text), 350);
    return () => clearTimeout(pause);
  }, [text]);
  return (
    <label>
      {label}
      <input
        type="text"
        value={text}
        placeholder={hint}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}

function Table({ batches }: { batches: readonly BatchJson[] }) {
  return (
    <table class="list batches">
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Batch</th>
          <th scope="col">Model</th>
          <th scope="col">Requests</th>
          <th scope="col" class="end">
            Cost
          </th>
          <th scope="col" class="end">
            Made
          </th>
        </tr>
      </thead>
      <tbody>
        {batches.map((batch) => (
          <tr key={batch.id}>
            <td>
              <BatchState batch={batch} />
            </td>
            <td class="batch">
              <BatchLink batch={batch} />
              {batch.name && (
                <div>
                  <BatchName batch={batch} />
                </div>
              )}
              <Tags tags={batch.tags} />
            </td>
            <td>
              <Place provider={batch.provider} model={batch.model} />
            </td>
            <td class="progress">
              <Bar
                total={batch.count}
                done={Math.max(0, doneOf(batch) - failedOf(batch))}
                failed={failedOf(batch)}
              />
              <span class="quiet">
                {number(doneOf(batch))} of {number(batch.count)}
                <FailedOf batch={batch} />
              </span>
            </td>
            <td class="end cost">{costOf(batch)}</td>
            <td class="end made nowrap quiet">
              <Ago at={batch.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What was paid; of a batch that is not over, what it may cost. */
function costOf({ cost, endedAt }: BatchJson): string {
  if (cost?.paid !== undefined) return dollars(cost.paid);
  if (cost?.estimate === undefined || endedAt !== undefined) return '';
  const estimate = dollars(cost.estimate);
  return estimate.startsWith('<') ? estimate : `~${estimate}`;
}
