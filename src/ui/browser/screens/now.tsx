import type { BatchJson, NowJson, QueueJson, TroubleJson } from '../../api-types.ts';
import {
  Ago,
  Bar,
  BatchLink,
  BatchName,
  BatchState,
  doneOf,
  Empty,
  FailedOf,
  Figure,
  failedOf,
  Pending,
  Place,
  Title,
} from '../parts/pieces.tsx';
import { Words } from '../parts/plain-text.tsx';
import { Sure } from '../parts/sure.tsx';
import { href } from '../route.ts';
import { serverNow, useAnswer } from '../server.ts';
import { counted, dollars, lasting, number } from '../words.ts';

export function NowScreen({ canWrite }: { canWrite: boolean }) {
  const asked = useAnswer<NowJson>('now');
  const now = asked.value;
  return (
    <>
      <div class="title">
        <Title text="Now" />
        {canWrite && (
          <Sure
            label="Collect"
            question="Collect what is finished?"
            explanation="Each batch whose program has ended is looked at once, and its answers are stored in the ledger. Nothing is sent, and nothing is paid for."
            path="collect"
          />
        )}
      </div>
      {now === undefined ? <Pending asked={asked} /> : <Now now={now} />}
    </>
  );
}

function Now({ now: { queues, recent, isMore, hasOlder, troubles } }: { now: NowJson }) {
  const batches = queues.flatMap((queue) => queue.batches);
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
  const waiting = sum(queues.map((queue) => queue.waiting));
  const requests = sum(batches.map(({ count }) => count));
  const done = sum(batches.map(doneOf));
  const estimate = sum(batches.map(({ cost }) => cost?.estimate ?? 0));
  const slow = batches.filter((batch) => batch.slow).length;
  return (
    <>
      <section class="figures" aria-label="In numbers">
        <Figure
          label="Under way"
          value={
            hasOlder
              ? `${number(batches.length)}+ batches`
              : counted(batches.length, 'batch', 'batches')
          }
          note={`${counted(requests, 'request')}${hasOlder ? ' in the newest' : ''}`}
        />
        <Figure
          label="Done of these"
          value={requests > 0 ? `${Math.floor((100 * done) / requests)} %` : '–'}
          note={counted(done, 'request')}
        />
        <Figure
          label="Waiting to be sent"
          value={`${number(waiting)}${isMore ? '+' : ''}`}
          note={waiting === 1 ? 'request' : 'requests'}
        />
        <Figure
          label="Estimate"
          value={estimate > 0 ? dollars(estimate) : '–'}
          note="of what is under way"
        />
        {slow > 0 && (
          <Figure label="Slow" value={counted(slow, 'batch', 'batches')} note="slower than usual" />
        )}
      </section>
      {troubles.length > 0 && <InTheWay troubles={troubles} />}
      {queues.length === 0 ? (
        <Empty title="Nothing is under way">
          <p>
            No batch is open and no request waits. What has ended is under{' '}
            <a href={href('batches')}>Batches</a>.
          </p>
        </Empty>
      ) : (
        queues.map((queue) => (
          <QueueCard
            key={[queue.provider, queue.base, queue.endpoint, queue.model].join()}
            queue={queue}
          />
        ))
      )}
      {recent.length > 0 && (
        <section aria-label="Ended last">
          <h2 class="over">Ended last</h2>
          <ul class="rows">
            {recent.map((batch) => (
              <li key={batch.id}>
                <BatchState batch={batch} />
                <BatchLink batch={batch} />
                <span class="grow">
                  <BatchName batch={batch} />
                </span>
                <span class="quiet counts">
                  {number(batch.answered)} of {counted(batch.count, 'request')}
                  <FailedOf batch={batch} />
                </span>
                <span class="quiet nowrap">
                  <Ago at={batch.endedAt ?? batch.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function InTheWay({ troubles }: { troubles: readonly TroubleJson[] }) {
  return (
    <section class="card" aria-label="In the way">
      <h2>In the way</h2>
      {troubles.map(({ text, owners }) => (
        <p key={text} class="note">
          <Words text={text} /> <span class="quiet">({processes(owners)})</span>
        </p>
      ))}
    </section>
  );
}

function processes(owners: QueueJson['owners']): string {
  return owners.map(({ host, pid }) => `process ${pid} on ${host}`).join(', ');
}

function QueueCard({ queue }: { queue: QueueJson }) {
  const { provider, model, endpoint, batches, waiting, waitingSince, left, sent, owners, usual } =
    queue;
  const isTold = owners.some(({ troubles }) => troubles !== undefined);
  return (
    <section class="card queue" aria-label={`${provider} ${model}`}>
      <header>
        <h2>
          <Place provider={provider} model={model} />
        </h2>
        <span class="quiet">
          <Words text={endpoint} />
        </span>
      </header>
      {waiting + sent > 0 && (
        <p>
          {waiting > 0 && (
            <>
              <strong>{number(waiting)}</strong> {waiting === 1 ? 'waits' : 'wait'} to be sent
            </>
          )}
          {waiting > 0 && sent > 0 && ', '}
          {sent > 0 && (
            <>
              <strong>{number(sent)}</strong> under way as{' '}
              {sent === 1 ? 'an ordinary call' : 'ordinary calls'}
            </>
          )}
          {waitingSince !== undefined && (
            <>
              ; the oldest came <Ago at={waitingSince} />
            </>
          )}
          .
        </p>
      )}
      {waiting > left && owners.length > 0 && !isTold && waitsLong(waitingSince) && (
        <p class="note">
          That is long, and its program tells of nothing that is in the way: look at it where it was
          started.
        </p>
      )}
      {left > 0 && (
        <p class="note">
          {counted(left, 'request belongs', 'requests belong')} to a program that has ended. Run it
          again: they are sent then, and what is answered already is not paid again.
        </p>
      )}
      {batches.map((batch) => (
        <OpenBatch key={batch.id} batch={batch} usual={usual} />
      ))}
      {owners.length > 0 && <p class="quiet by">Worked on by {processes(owners)}.</p>}
    </section>
  );
}

/** A program that can send does so sooner. */
const longWait = 600_000;

function waitsLong(since: number | undefined): boolean {
  return since !== undefined && serverNow() - since > longWait;
}

function OpenBatch({ batch, usual }: { batch: BatchJson; usual: number | undefined }) {
  const { count, acceptedAt, createdAt, slow, name } = batch;
  const failed = failedOf(batch);
  const done = Math.max(doneOf(batch) - failed, 0);
  return (
    <div class="open-batch">
      <div class="line">
        <BatchState batch={batch} />
        <BatchLink batch={batch} />
        {name && <BatchName batch={batch} />}
        <span class="grow" />
        <span class="quiet nowrap">{timeLeft(batch, usual)}</span>
      </div>
      <Bar total={count} done={done} failed={failed} />
      <div class="line quiet">
        <span>
          {number(done + failed)} of {counted(count, 'request')}
          <FailedOf batch={batch} />
        </span>
        <span class="grow" />
        <span class="nowrap">
          {acceptedAt === undefined ? 'made ' : 'sent '}
          <Ago at={acceptedAt ?? createdAt} />
        </span>
      </div>
      {slow && (
        <p class="note">
          Nine of ten batches of this model and size took at most {lasting(slow.usual)}.{' '}
          {slow.kind === 'stuck'
            ? 'Later ones have ended: this one may be stuck. Cancelling keeps what is finished at most providers.'
            : 'It is still paid for only once, and its answers come when the provider is done.'}
        </p>
      )}
      {batch.owner === undefined && (
        <p class="note">
          No program waits for it. Run its program again, or batchling collect, to fetch the
          answers.
        </p>
      )}
    </div>
  );
}

function timeLeft({ acceptedAt, slow }: BatchJson, usual: number | undefined): string {
  if (acceptedAt === undefined) return 'not at the provider yet';
  if (slow) return 'slower than usual';
  if (usual === undefined) return 'most take less than 24 h';
  const left = acceptedAt + usual - serverNow();
  return left > 0 ? `about ${lasting(left)} left` : `usually over after ${lasting(usual)}`;
}
