import type { Handle, ItemId } from '../../base/types.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import type {
  Call,
  Envelope,
  Found,
  Limits,
  Match,
  OrdinaryCall,
  Plan,
  PolledBatch,
  ProviderInfo,
  Remote,
  Route,
  Row,
} from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { showOne } from '../shared/batch-list.ts';
import { withMember, withoutMembers } from '../shared/json-text.ts';
import { pathOf } from '../shared/paths.ts';
import { createdBody, expectDeleted, expectDone, expectOk, isSeen } from '../shared/replies.ts';
import { resultReply } from '../shared/result-reply.ts';
import { resultRows } from '../shared/result-rows.ts';
import { controlWire } from './control-wire.ts';
import { accountOf } from './fireworks-account.ts';
import { datasetAt, downloadUrls, newDataset } from './fireworks-datasets.ts';
import { fireworksInfo } from './fireworks-info.ts';
import { judgeJob, toFireworksRemote } from './fireworks-job.ts';
import { fireworksNotes } from './fireworks-notes.ts';
import { readFireworksLine } from './fireworks-results.ts';

const jobMembers: ReadonlySet<string> = new Set(['model']);
const fullName = /^accounts\/[\w.-]+\/models\/[\w.-]+$/;

/**
 * Fireworks's batch inference jobs: the requests are a dataset, so are the answers, and a job has an id that is
 * chosen before it is created.
 *
 * @example
 * await batchify(askAll, { only: 'fireworks', providers: { fireworks: { account: 'my-team' } } });
 */
export class FireworksBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = fireworksInfo;
  override readonly notes: ProviderNotes = fireworksNotes;
  protected override readonly ownLimits: Partial<Limits> = {
    // One upload takes 150 MB.
    bytes: 140_000_000,
    itemBytes: 140_000_000,
    // Jobs are asked for one by one: the list begins with the oldest.
    inFlight: 16,
    cachedInput: 'discounted',
  };

  override match(call: Call): Match {
    const match = super.match(call);
    if (!('body' in match)) return match;
    if (call.lane !== 'realtime' && !fullName.test(match.model)) {
      return { bypass: 'batches of Fireworks run models by their full names, accounts/…/models/…' };
    }
    return { ...match, body: withoutMembers(match.body, jobMembers) };
  }

  /** The model, which a job names for all its lines, goes back into the body. */
  override ordinary(
    call: Pick<Call, 'path' | 'query' | 'settings'>,
    { model, body }: Pick<Route, 'model' | 'body'>,
  ): OrdinaryCall {
    return super.ordinary(call, { model, body: withMember(body, 'model', JSON.stringify(model)) });
  }

  override envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","body":`, after: '}' };
  }

  /** A dataset that an upload has left half made is not used again: each has an id of its own. */
  protected override async upload(wire: Wire, plan: Plan, file: StreamedBody): Promise<Handle> {
    const control = controlWire(wire);
    const { account = await accountOf(control, this.judge) } = plan.settings;
    const job = plan.token.toLowerCase().replace(/[^a-z\d]+/g, '-');
    const dataset = `${job}-${crypto.randomUUID().slice(0, 8)}`;
    const handle = { account: String(account), dataset, job };
    await newDataset(control, handle, plan, file, this.judge);
    return handle;
  }

  override async create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const { account = '', dataset = '', job = '' } = handle;
    const control = controlWire(wire);
    const reply = await control.send({
      method: 'POST',
      path: `/${jobsOf(account)}?batchInferenceJobId=${encodeURIComponent(job)}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        // A character that was cut in two is no JSON for a strict reader.
        displayName: (plan.tags.name ?? plan.token).slice(0, 63).replace(/[\uD800-\uDBFF]$/, ''),
        model: plan.route.model,
        inputDatasetId: datasetAt(account, dataset).slice(1),
      }),
    });
    return toFireworksRemote(await createdBody(control, reply, judgeJob(this.judge)), wire);
  }

  override async find(wire: Wire, _plan: unknown, handle: Handle): Promise<Found> {
    const remote = await this.#show(wire, jobName(handle));
    return remote.state === 'missing' ? { kind: 'absent' } : { kind: 'exact', remotes: [remote] };
  }

  override async *poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    for (const { id } of batches) yield await this.#show(wire, id);
  }

  #show(wire: Wire, id: string): Promise<Remote> {
    return showOne(id, async () => {
      const request = { method: 'GET', path: pathOf(id) } as const;
      const job = await (await expectOk(controlWire(wire), request, this.judge)).json();
      return toFireworksRemote(job, wire);
    });
  }

  override async *results(
    wire: Wire,
    { id, sources }: Pick<Remote, 'id' | 'sources'>,
  ): AsyncIterable<readonly Row[]> {
    if (sources.output === undefined) return;
    const dataset = datasetAt(accountIn(id), sources.output);
    let isEmpty = true;
    for (const url of await downloadUrls(controlWire(wire), dataset, this.judge)) {
      const reply = await resultReply(wire, url, this.judge);
      for await (const rows of resultRows(reply, (line) => this.readLine(line))) {
        // Mostly there are no errors, and the file for them is empty.
        const told = rows.filter((row) => !('unreadable' in row && row.unreadable === 'empty'));
        isEmpty &&= told.length === 0;
        if (told.length > 0) yield told;
      }
    }
    if (isEmpty) yield [{ unreadable: 'empty' }];
  }

  protected override readLine(line: string): Row {
    return readFireworksLine(line, this.info.requestIdHeader, this.judge);
  }

  override async cancel(wire: Wire, { id }: Pick<Remote, 'id'>): Promise<void> {
    const request = { method: 'DELETE', path: pathOf(id) } as const;
    await expectDone(controlWire(wire), request, this.judge);
  }

  override async sharesAccount(wire: Wire, handle: Handle): Promise<boolean | undefined> {
    const { account, dataset } = handle;
    if (account === undefined || dataset === undefined) return undefined;
    const request = { method: 'GET', path: datasetAt(account, dataset) } as const;
    return isSeen(() => expectDone(controlWire(wire), request, this.judge));
  }

  /** Input and results: an account has room for so many datasets, and nobody reads these again. */
  override async cleanup(wire: Wire, handle: Handle): Promise<void> {
    const { account, dataset } = handle;
    if (account === undefined || dataset === undefined) return;
    const { output } = (await this.#show(wire, jobName(handle))).sources;
    for (const id of [dataset, output]) {
      if (id === undefined) continue;
      await expectDeleted(controlWire(wire), { path: datasetAt(account, id) }, this.judge);
    }
  }
}

function jobsOf(account: string): string {
  return `accounts/${encodeURIComponent(account)}/batchInferenceJobs`;
}

function jobName({ account = '', job }: Handle): string {
  return `${jobsOf(account)}/${job}`;
}

function accountIn(name: string): string {
  return name.split('/')[1] ?? '';
}
