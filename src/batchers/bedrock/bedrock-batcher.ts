import { fields, type JsonObject } from '../../base/json.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import type { Credentials, OutgoingRequest, StreamedBody, Wire } from '../../http/wire.ts';
import { keyIdIn } from '../aws/aws-identity.ts';
import { type GivenCredential, givenToken } from '../aws/aws-keys.ts';
import { signWireRequest } from '../aws/sign-wire-request.ts';
import type {
  Call,
  Envelope,
  Expectation,
  Found,
  Limits,
  Match,
  OrdinaryCall,
  Plan,
  PolledBatch,
  ProviderInfo,
  Remote,
  Route,
  RouteKey,
  Row,
  Usage,
} from '../batcher.ts';
import { FileBatcher } from '../file-batcher.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { deleteEach, expectDeleted, expectDone, isSeen } from '../shared/replies.ts';
import type { BatchApi } from './batch-api.ts';
import { chatEndpoint, matchBedrock } from './bedrock-calls.ts';
import { finalStatus, ownErrorBody } from './bedrock-errors.ts';
import { bedrockInfo } from './bedrock-info.ts';
import { inputName } from './bedrock-job.ts';
import { judgeBedrock, judgeStorage, judgeUpload } from './bedrock-judge.ts';
import { bedrockNotes } from './bedrock-notes.ts';
import {
  audienceOf,
  bedrockIn,
  filesOf,
  handleOf,
  objectRequest,
  originsOf,
  wireIn,
} from './bedrock-places.ts';
import { readRow } from './bedrock-rows.ts';
import { keysIn } from './bedrock-storage.ts';
import { bedrockUsage } from './bedrock-usage.ts';
import { jobApi, regionInId } from './job-api.ts';
import { openaiApi } from './openai-api.ts';

const hour = 3_600_000;
const isCall = /\/(model\/[^/]+\/(invoke|converse)|openai\/v1\/chat\/completions)$/;

/** From a day to a week, in hours. */
const jobWindows: Limits['windows'] = {
  '24h': { word: '24', priceShare: 0.5 },
  '48h': { word: '48', priceShare: 0.5 },
  '72h': { word: '72', priceShare: 0.5 },
  '7d': { word: '168', priceShare: 0.5 },
};

/**
 * Model invocation jobs of Amazon Bedrock: the requests are an object in a bucket of the user's, and so are the
 * answers. Every request of ours is signed.
 */
export class BedrockBatcher extends FileBatcher {
  readonly info: ProviderInfo = bedrockInfo;
  override readonly notes: ProviderNotes = bedrockNotes;
  protected override readonly judge: ReplyJudge = judgeBedrock;

  match(call: Call): Match {
    return matchBedrock(call);
  }

  limits({ endpoint }: Pick<Route, 'endpoint'>): Limits {
    const isChat = endpoint === chatEndpoint;
    return {
      items: 50_000,
      leastItems: 100,
      recommendedItems: 10_000,
      // 1 GB by the book; whether that means 10^9 or 2^30 is not said, and some head-room is free.
      bytes: 950_000_000,
      itemBytes: 950_000_000,
      inFlight: 20,
      windows: isChat ? { '24h': { word: '24h', priceShare: 0.5 } } : jobWindows,
      pollMinimum: 0,
      // The longest window and a day.
      outlives: (isChat ? 48 : 192) * hour,
    };
  }

  envelope({ endpoint }: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    if (endpoint === chatEndpoint) {
      const before = `{"custom_id":"${id}","method":"POST","url":"${endpoint}","body":`;
      return { before, after: '}' };
    }
    return { before: `{"recordId":"${id}","modelInput":`, after: '}' };
  }

  override origins(base: string): readonly string[] {
    return originsOf(base);
  }

  /** An ordinary call goes out with the key of Bedrock that it came with. Jobs and S3 need keys that sign. */
  override async sign(
    request: OutgoingRequest,
    captured: Credentials,
    given: GivenCredential | undefined,
  ): Promise<Credentials> {
    const audience = audienceOf(request.audience, request.base);
    const token = await givenToken(given);
    const { authorization = '', ...others } = captured.headers ?? {};
    // What a server of the user wants to see beside keys is for that server alone.
    const kept = request.url.origin === new URL(request.base).origin ? others : {};
    if (isCall.test(request.url.pathname)) {
      if (token !== undefined) return { headers: { ...kept, authorization: `Bearer ${token}` } };
      if (authorization !== '' && keyIdIn(authorization) === undefined) return captured;
    }
    const keys = token === undefined ? given : undefined;
    const signed = await signWireRequest(request, audience, keys);
    return { ...signed, headers: { ...kept, ...signed.headers } };
  }

  /** The name of the input is the batch's own, so a second upload replaces the first. */
  protected async upload(wire: Wire, plan: Plan, body: StreamedBody): Promise<Handle> {
    const { endpoint } = plan.route;
    const handle: Handle = {
      ...handleOf(wire.base, plan.settings, plan.token),
      ...(endpoint === chatEndpoint && { api: 'openai' }),
    };
    const files = filesOf(handle);
    if (files === undefined) throw new TypeError('providers.bedrock.bucket is missing.');
    const place = objectRequest(files, `${files.folder}${inputName}`);
    const headers = { 'content-type': 'application/jsonl' };
    const request = { method: 'PUT', ...place, headers, body } as const;
    await expectDone(wire, request, judgeUpload);
    return handle;
  }

  create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    return apiIn(handle).create(wireIn(wire, handle), plan, handle);
  }

  find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found> {
    return apiIn(handle).find(wireIn(wire, handle), plan, handle);
  }

  /** Keys change by the hour and name no account. One that sees the input is of the same one. */
  override async sharesAccount(wire: Wire, handle: Handle): Promise<boolean | undefined> {
    const files = filesOf(handle);
    if (files === undefined) return undefined;
    const place = objectRequest(files, `${files.folder}${inputName}`);
    return isSeen(() => expectDone(wire, { method: 'GET', ...place }, judgeStorage));
  }

  async *poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    const groups = new Map<string, PolledBatch[]>();
    for (const batch of batches) {
      const { api, region } = batch.handle;
      const kind = `${api} ${region}`;
      groups.set(kind, [...(groups.get(kind) ?? []), batch]);
    }
    for (const those of groups.values()) {
      const [{ handle }] = those as [PolledBatch];
      yield* apiIn(handle).poll(wireIn(wire, handle), those);
    }
  }

  override results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    return apiIn(remote.sources).results(wire, remote);
  }

  protected resultFiles(): readonly string[] {
    return [];
  }

  protected readLine(line: string): Row {
    return readRow(line);
  }

  cancel(
    wire: Wire,
    { id, sources = {} }: Pick<Remote, 'id'> & Partial<Pick<Remote, 'sources'>>,
  ): Promise<void> {
    const region = regionInId(id);
    return region === undefined
      ? openaiApi.cancel(wireIn(wire, sources), id)
      : jobApi.cancel(wireIn(wire, { region }), id);
  }

  /** Input and output: all that is in the folder of this batch, which has the batch's own name. */
  override async cleanup(wire: Wire, handle: Handle): Promise<void> {
    const files = filesOf(handle);
    if (files === undefined) return;
    const remove = (key: string) => expectDeleted(wire, objectRequest(files, key), judgeStorage);
    await deleteEach(await keysIn(wire, files), remove);
  }

  override expects(route: Pick<Route, 'endpoint' | 'body'>, body: JsonObject): Expectation {
    const { maxTokens } = fields(body.inferenceConfig);
    return super.expects(route, maxTokens === undefined ? body : { max_tokens: maxTokens });
  }

  /** The answer is asked for in one piece. */
  override ordinary(
    { path, query, settings }: Pick<Call, 'path' | 'query' | 'settings'>,
    { body }: Pick<Route, 'model' | 'body'>,
  ): OrdinaryCall {
    const inOnePiece = path.replace(/(-with-response)?-stream$/, '');
    return { path: `${inOnePiece}${query}`, body, ...bedrockIn(settings) };
  }

  override async placeholder({ endpoint, model }: RouteKey, body: JsonObject): Promise<unknown> {
    if (endpoint === 'Converse') {
      const message = { role: 'assistant', content: [{ text: 'placeholder' }] };
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      return { output: { message }, stopReason: 'end_turn', usage, metrics: { latencyMs: 0 } };
    }
    if (endpoint === chatEndpoint) {
      const { openaiPlaceholder } = await import('../openai/openai-placeholder.ts');
      return openaiPlaceholder(endpoint, body);
    }
    if (body.anthropic_version === undefined) return undefined;
    const { anthropicPlaceholder } = await import('../anthropic/anthropic-placeholder.ts');
    return anthropicPlaceholder(model, body);
  }

  usage(answer: unknown): Usage | undefined {
    return bedrockUsage(answer);
  }

  override finalStatus(status: number): number {
    return finalStatus(status);
  }

  errorBody(type: string, message: string): string {
    return ownErrorBody(type, message);
  }
}

function apiIn({ api }: Handle): BatchApi {
  return api === 'openai' ? openaiApi : jobApi;
}
