import type { BatchDetailJson, BatchJson, MemberJson, MembersJson } from '../../api-types.ts';
import {
  Ago,
  Bar,
  BatchState,
  Copy,
  doneOf,
  Facts,
  failedOf,
  MemberState,
  Pending,
  Tags,
  Title,
  Trouble,
} from '../parts/pieces.tsx';
import { Words } from '../parts/plain-text.tsx';
import { Sure } from '../parts/sure.tsx';
import { href } from '../route.ts';
import { serverNow, useAnswer } from '../server.ts';
import { usePages } from '../use-pages.ts';
import { counted, dollars, lasting, moment, number } from '../words.ts';

export function BatchScreen({ id, canWrite }: { id: string; canWrite: boolean }) {
  const path = `batches/${encodeURIComponent(id)}`;
  const asked = useAnswer<BatchDetailJson>(path);
  if (asked.value === undefined) return <Pending asked={asked} title="Batch" />;
  const { batch, members, usual } = asked.value;
  return (
    <>
      <p class="crumbs">
        <a href={href('batches')}>Batches</a>
      </p>
      <div class="title">
        <Title text={batch.name ?? `${batch.provider} ${batch.model}`} />
        <BatchState batch={batch} />
        {canWrite && batch.endedAt === undefined && (
          <Sure
            label="Cancel this batch"
            question="Cancel this batch?"
            explanation="What the provider has finished is paid for, and kept by most of them. Callers that wait get status 499."
            path={`${path}/cancel`}
          />
        )}
      </div>
      {batch.failure && <Trouble text={batch.failure} />}
      <div class="two">
        <section class="card" aria-label="Progress">
          <h2>Requests</h2>
          <Bar total={batch.count} {...progressOf(batch, members)} />
          <Facts
            facts={[
              ['Sent', number(batch.count)],
              ['Answered', number(members.answered)],
              ['Errors', number(members.failed)],
              ['Waiting', number(members.waiting)],
              ['Sent again elsewhere', goneOf(batch, members)],
              ['At the provider', batch.counts && providerCounts(batch.counts)],
            ]}
          />
        </section>
        <section class="card" aria-label="Cost">
          <h2>Cost</h2>
          <CostFacts batch={batch} />
        </section>
      </div>
      <Timeline batch={batch} usual={usual} />
      <section class="card" aria-label="Facts">
        <h2>Facts</h2>
        <Facts
          facts={[
            ['Id', <IdText key="id" text={batch.id} />],
            ['Id at the provider', batch.remoteId && <IdText text={batch.remoteId} />],
            ['Provider', batch.provider],
            ['Model', batch.model],
            ['Endpoint', batch.endpoint],
            ['Base', batch.base],
            ['State at the provider', batch.raw],
            ['Run', batch.run],
            ['Works on it', batch.owner && `process ${batch.owner.pid} on ${batch.owner.host}`],
            ['Tags', Object.keys(batch.tags).length > 0 ? <Tags tags={batch.tags} /> : undefined],
          ]}
        />
      </section>
      <Members path={path} />
    </>
  );
}

function IdText({ text }: { text: string }) {
  return (
    <span class="with-copy">
      <code>{text}</code> <Copy text={text} label="Copy" />
    </span>
  );
}

/** What is collected, or what the provider says of a batch that is under way. */
function progressOf(batch: BatchJson, { answered, failed }: BatchDetailJson['members']) {
  const known = Math.max(failed, failedOf(batch));
  return { done: Math.max(answered, doneOf(batch) - known), failed: known };
}

function goneOf({ count }: BatchJson, { waiting, answered, failed }: BatchDetailJson['members']) {
  const gone = count - waiting - answered - failed;
  return gone > 0 ? number(gone) : undefined;
}

function providerCounts({ completed, failed, total }: NonNullable<BatchJson['counts']>): string {
  return `${number(completed)} completed, ${number(failed)} failed, of ${number(total)}`;
}

function CostFacts({ batch: { cost, endedAt } }: { batch: BatchJson }) {
  if (cost === undefined) return <p class="quiet">No price is known for this model.</p>;
  const { paid, saved, estimate, inputTokens, outputTokens } = cost;
  const share =
    paid !== undefined && estimate !== undefined && estimate > 0 && endedAt !== undefined
      ? `, ${Math.round((100 * paid) / estimate)} % of the estimate`
      : '';
  return (
    <Facts
      facts={[
        ['Paid', paid !== undefined && dollars(paid) + share],
        ['Saved', saved !== undefined && dollars(saved)],
        ['Estimate', estimate !== undefined && dollars(estimate)],
        ['Tokens in', inputTokens !== undefined && number(inputTokens)],
        ['Tokens out', outputTokens !== undefined && number(outputTokens)],
      ]}
    />
  );
}

/** The marks of a batch, with the time between them. */
function Timeline({ batch, usual }: { batch: BatchJson; usual: number | undefined }) {
  const { createdAt, acceptedAt, endedAt, words } = batch;
  const marks: (readonly [title: string, at: number])[] = [['Made', createdAt]];
  if (acceptedAt !== undefined) marks.push(['Accepted by the provider', acceptedAt]);
  if (endedAt !== undefined) marks.push([endTitle(batch), endedAt]);
  const last = marks.at(-1) as (typeof marks)[number];
  return (
    <section class="card" aria-label="Timeline">
      <h2>Timeline</h2>
      <ol class="timeline">
        {marks.map(([title, at], index) => (
          <li key={title}>
            <strong>{title}</strong>
            <span>
              {moment(at)}
              {index > 0 && (
                <span class="quiet"> after {lasting(at - (marks[index - 1]?.[1] ?? at))}</span>
              )}
            </span>
          </li>
        ))}
        {endedAt === undefined && (
          <li class="to-come">
            <strong>{words}</strong>
            <span>
              for {lasting(serverNow() - last[1])}
              {usual !== undefined && acceptedAt !== undefined && (
                <span class="quiet">
                  {' '}
                  · half of the batches of this model took {lasting(usual)}
                </span>
              )}
            </span>
          </li>
        )}
      </ol>
    </section>
  );
}

function endTitle({ state, failure }: BatchJson): string {
  if (state === 'refused') return 'Refused';
  if (state === 'released') return 'Given up before it was sent';
  return failure === undefined ? 'All answers collected' : 'Failed';
}

function Members({ path }: { path: string }) {
  const pages = usePages<MembersJson, MemberJson>(
    `${path}/members`,
    ({ members }) => members,
    'from',
  );
  return (
    <section aria-label="Requests of the batch">
      <h2 class="over">Requests</h2>
      {pages.error && <Trouble text={pages.error.message} />}
      {pages.items.length === 0 && pages.isDone && (
        <p class="quiet">The ledger holds none of them any more.</p>
      )}
      <MemberRows members={pages.items} />
      <p class="next">
        {!pages.isDone && !pages.isBusy && (
          <button type="button" onClick={pages.more}>
            More requests
          </button>
        )}
        {pages.items.length > 0 && (
          <span class="quiet">{counted(pages.items.length, 'request')} shown</span>
        )}
      </p>
    </section>
  );
}

function MemberRows({ members }: { members: readonly MemberJson[] }) {
  return (
    <ul class="rows">
      {members.map((member) => (
        <li key={member.request}>
          <MemberState state={member.state} status={member.status} />
          <a class="id" href={href('request', String(member.request))} title={member.id}>
            {member.id.slice(0, 8)}
            {member.occurrence > 0 && ` #${member.occurrence + 1}`}
          </a>
          <span class="grow excerpt">
            {member.asked && (
              <span class="asked">
                <Words text={member.asked} />
              </span>
            )}
            {member.asked && member.excerpt && <span aria-hidden="true"> → </span>}
            {member.excerpt && <Words text={member.excerpt} />}
          </span>
          {member.attempt > 0 && <span class="quiet nowrap">try {member.attempt + 1}</span>}
          <span class="quiet nowrap">
            <Ago at={member.since} />
          </span>
        </li>
      ))}
    </ul>
  );
}
