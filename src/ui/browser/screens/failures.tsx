import type { FailureJson, FailuresJson } from '../../api-types.ts';
import { Ago, BatchLink, Empty, Pending, Place, Title } from '../parts/pieces.tsx';
import { Words } from '../parts/plain-text.tsx';
import { href } from '../route.ts';
import { useAnswer } from '../server.ts';
import { counted, number } from '../words.ts';

export function FailuresScreen() {
  const asked = useAnswer<FailuresJson>('failures');
  return (
    <>
      <Title text="Failures" />
      {asked.value === undefined ? <Pending asked={asked} /> : <Failures failures={asked.value} />}
    </>
  );
}

function Failures({ failures: { groups, batches, looked, isMore } }: { failures: FailuresJson }) {
  if (groups.length === 0 && batches.length === 0) {
    return (
      <Empty title="Nothing has failed">
        <p>Every request that has ended has its answer.</p>
      </Empty>
    );
  }
  return (
    <>
      {groups.length > 0 && (
        <p class="quiet">
          {isMore
            ? `The newest ${number(looked)} requests that failed`
            : counted(looked, 'request that failed', 'requests that failed')}
          , grouped by what their errors have in common.
        </p>
      )}
      {groups.map((group) => (
        <Group key={`${group.status} ${group.message}`} group={group} />
      ))}
      {batches.length > 0 && (
        <section aria-label="Batches that failed">
          <h2 class="over">Batches that failed as a whole</h2>
          {batches.map((batch) => (
            <article key={batch.id} class="card failure">
              <header>
                <h3>
                  <Words text={batch.failure ?? ''} />
                </h3>
                <span class="quiet nowrap">
                  <Ago at={batch.endedAt ?? batch.createdAt} />
                </span>
              </header>
              <p>{batch.advice}</p>
              <p class="quiet">
                <BatchLink batch={batch} /> <Place provider={batch.provider} model={batch.model} />,{' '}
                {counted(batch.count, 'request')}
              </p>
            </article>
          ))}
        </section>
      )}
    </>
  );
}

function Group({ group }: { group: FailureJson }) {
  const { status, message, count, newest, oldest, models, advice, example } = group;
  return (
    <article class="card failure">
      <header>
        <h2>
          <span class="count">{number(count)} ×</span> {status}
        </h2>
        <span class="quiet nowrap">
          <Ago at={newest} />
          {newest - oldest > 60_000 && (
            <>
              {' '}
              to <Ago at={oldest} />
            </>
          )}
        </span>
      </header>
      <p class="message-text">
        <Words text={message} />
      </p>
      <p>{advice}</p>
      <p class="quiet">
        <Words text={models.slice(0, 3).join(', ')} />
        {models.length > 3 && ' and others'} ·{' '}
        <a href={href('request', String(example.request))}>see one of them</a>
      </p>
    </article>
  );
}
