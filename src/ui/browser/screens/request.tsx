import type { RequestJson } from '../../api-types.ts';
import { Conversation } from '../parts/conversation.tsx';
import { Facts, MemberState, Pending, Tags, Title } from '../parts/pieces.tsx';
import { Words } from '../parts/plain-text.tsx';
import { href } from '../route.ts';
import { useAnswer } from '../server.ts';
import { counted, moment, shortId } from '../words.ts';

export function RequestScreen({ id }: { id: string }) {
  const asked = useAnswer<RequestJson>(`requests/${encodeURIComponent(id)}`);
  if (asked.value === undefined) return <Pending asked={asked} title="Request" />;
  const request = asked.value;
  const { question, answer, batch, samples } = request;
  return (
    <>
      <p class="crumbs">
        <a href={href('batches')}>Batches</a>
        {batch && (
          <>
            {' / '}
            <a href={href('batch', batch.id)}>
              <Words text={batch.name ?? shortId(batch.id)} />
            </a>
          </>
        )}
      </p>
      <div class="title">
        <Title text={`Request ${request.id.slice(0, 8)}`} />
        <MemberState state={request.state} status={request.status} />
      </div>
      <div class="two">
        <Conversation
          kind="question"
          given={question}
          otherwise='The ledger keeps answers only. With keep: "all" (or BATCHLING_KEEP=all) it keeps questions, too.'
        />
        <Conversation
          kind="answer"
          given={answer}
          otherwise={
            request.state === 'answered' ? 'It is not kept any more.' : 'There is none yet.'
          }
        />
      </div>
      {samples.length > 1 && <Samples request={request} />}
      <section class="card" aria-label="Facts">
        <h2>Facts</h2>
        <Facts
          facts={[
            ['Id in the batch', <code key="id">{request.id}</code>],
            ['Provider', request.provider],
            ['Model', request.model],
            ['Endpoint', request.endpoint],
            ['Sample', request.occurrence + 1],
            [
              'Asked afresh',
              request.generation > 0 ? counted(request.generation, 'time') : undefined,
            ],
            ['Tries', request.attempt + 1],
            ['Since', moment(request.since)],
            ['Status', request.status],
            ['Id of the answer', answer?.headers['x-request-id'] ?? answer?.headers['request-id']],
            [
              'Tags',
              batch && Object.keys(batch.tags).length > 0 ? <Tags tags={batch.tags} /> : undefined,
            ],
          ]}
        />
      </section>
    </>
  );
}

/** Identical calls, side by side. */
function Samples({ request: { request, samples } }: { request: RequestJson }) {
  return (
    <section aria-label="Samples">
      <h2 class="over">The same question, asked {samples.length} times</h2>
      <ul class="samples">
        {samples.map((sample, index) => (
          <li key={sample.request} class="card">
            <header>
              <a
                href={href('request', String(sample.request))}
                aria-current={sample.request === request ? 'true' : undefined}
              >
                Sample {sample.occurrence + 1}
                {samples
                  .slice(0, index)
                  .some(({ occurrence }) => occurrence === sample.occurrence) && ', afresh'}
              </a>
              <MemberState state={sample.state} status={sample.status} />
            </header>
            <p class="excerpt">
              <Words text={sample.excerpt ?? 'No answer yet.'} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
