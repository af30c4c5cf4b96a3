import { field, text } from '../../base/json.ts';
import type { Handle } from '../../base/types.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import type {
  Call,
  Limits,
  Match,
  OrdinaryCall,
  Plan,
  Remote,
  Route,
  RouteKey,
  Row,
} from '../batcher.ts';
import type { FlexTier } from '../flex-tier.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import { openaiFlex } from '../openai/openai-flex.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import type { BatchList } from '../shared/batch-list.ts';
import { withMember } from '../shared/json-text.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { ownTier, tierBypass } from '../shared/own-tier.ts';
import { type ListPage, listPage } from '../shared/reply-shapes.ts';
import {
  asOpenAI,
  batchDeployment,
  datedVersion,
  howToConfigure,
  namedDeployment,
  onlineDeployment,
} from './azure-call.ts';
import { untilProcessed } from './azure-file.ts';
import { azureInfo } from './azure-info.ts';
import { judgeAzure } from './azure-judge.ts';
import { azureNotes } from './azure-notes.ts';

const tierHeader = 'x-ms-service-tier';
const day = 86_400_000;
/** How long an input file is kept; the least that Azure documents. */
const fileLife = 14 * day;
/** The first dated version whose files can have an end. */
const firstWithExpiry = '2025-03-01';

/**
 * Azure OpenAI: OpenAI's files and batches below the two roots of a resource. Requests run on the batch
 * deployment that the user names for the deployment of a call.
 *
 * @example
 * batchify(fn, {
 *   batchers: [AzureOpenAIBatcher],
 *   providers: { azure: { deployments: { 'gpt-4o': 'gpt-4o-batch' } } },
 * });
 */
export class AzureOpenAIBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = azureInfo;
  override readonly notes: ProviderNotes = azureNotes;
  /** The type that SDKs send. A file without one is refused, and which others are taken is not documented. */
  protected override readonly fileType = 'application/octet-stream';
  protected override readonly judge: ReplyJudge = judgeAzure;

  protected override get batchList(): BatchList {
    return { ...super.batchList, readPage };
  }

  override match(call: Call): Match {
    const online = onlineDeployment(call);
    if (online === undefined) return { bypass: 'the body names no model' };
    if ('data_sources' in call.json) return { bypass: 'Azure batches no calls with data_sources' };
    const chosen = tierBypass(ownTier(call, call.headers[tierHeader]));
    if (chosen !== undefined) return { bypass: chosen };
    const deployment = batchDeployment(online, call);
    const match = super.match(asOpenAI(call, deployment ?? online));
    const needsOne = (call.lane ?? 'batch') === 'batch';
    if (deployment !== undefined || !('body' in match)) return match;
    const lacks = howToConfigure(online);
    if (!needsOne) return { ...match, lacks };
    return {
      unconfigured: lacks,
      endpoint: this.endpointOf(asOpenAI(call, online)),
      model: online,
    };
  }

  /** Ordinary calls go to the deployment that the caller has named, not to that of batches. */
  override ordinary(
    call: Pick<Call, 'path' | 'query' | 'settings'>,
    { model, body }: Pick<Route, 'model' | 'body'>,
  ): OrdinaryCall {
    const online = namedDeployment(call, model);
    const own = online === model ? body : withMember(body, 'model', JSON.stringify(online));
    return super.ordinary(call, { model, body: own });
  }

  /** Its callers may name a tier in a header, which has to say the same as the body. */
  override flex({ endpoint }: RouteKey): FlexTier | undefined {
    const tier = openaiFlex(endpoint);
    return tier && { ...tier, headers: { [tierHeader]: 'flex' } };
  }

  /** The older API names chat completions without a version; how it names responses is not known. */
  protected override endpointOf({ path, query }: Call): string {
    const isOlder = datedVersion(query) !== undefined;
    return isOlder && path === '/chat/completions' ? path : `/v1${path}`;
  }

  override limits(route: RouteKey): Limits {
    return { ...super.limits(route), items: 100_000, pollMinimum: 60_000, outlives: fileLife };
  }

  protected override async upload(wire: Wire, plan: Plan, file: StreamedBody): Promise<Handle> {
    const handle = await super.upload(wire, plan, file);
    await untilProcessed(wire, this.fileAt(handle.fileId as string), this.judge);
    return handle;
  }

  /** A resource takes twenty times as many files if they have an end. */
  protected override uploadFields(plan: Plan, wire: Pick<Wire, 'base'>) {
    const version = datedVersion(wire.base);
    const fields = super.uploadFields(plan, wire);
    if (version !== undefined && version < firstWithExpiry) return fields;
    return [
      ...fields,
      ['expires_after[anchor]', 'created_at'],
      ['expires_after[seconds]', String(fileLife / 1000)],
    ] as const;
  }

  /** Azure's live service creates batches of responses as chat completions and tells them apart by their lines. */
  protected override createBody(plan: Plan, handle: Handle): object {
    const { endpoint } = plan.route;
    const created = endpoint === '/v1/responses' ? '/v1/chat/completions' : endpoint;
    return { ...super.createBody(plan, handle), endpoint: created };
  }

  /** "SKU must be globalbatch" may name a line, but the deployment is that of all lines. */
  protected override toRemote(batch: unknown, wire: Pick<Wire, 'redact'>): Remote {
    const { failure, ...remote } = super.toRemote(batch, wire);
    if (failure === undefined) return remote;
    if (failure.code !== 'invalid_request' || !/\bsku\b|globalbatch/i.test(failure.message)) {
      return { ...remote, failure };
    }
    const { bad: _, ...whole } = failure;
    return { ...remote, failure: { ...whole, next: 'fail' } };
  }

  /** Azure names an error file of no bytes when nothing failed. */
  override async *results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    const { output, errors } = remote.sources;
    if (output === undefined || errors === undefined) {
      yield* super.results(wire, remote);
      return;
    }
    yield* super.results(wire, { ...remote, sources: { output } });
    for await (const rows of super.results(wire, { ...remote, sources: { errors } })) {
      yield rows.filter((row) => !('unreadable' in row && row.unreadable === 'empty'));
    }
  }
}

/** Early versions of the API list batches in `value`, and say in `nextLink` that there are more. */
function readPage(body: unknown): ListPage {
  const data = field(body, 'data') ?? field(body, 'value');
  const more = field(body, 'has_more') === true || text(field(body, 'nextLink')) !== undefined;
  return listPage({ data, has_more: more });
}
