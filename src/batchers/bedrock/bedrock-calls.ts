import type { StreamDialect } from '../../streams/stream-dialect.ts';
import { refusedInBatches } from '../anthropic/refused-in-batches.ts';
import type { Call, Match, Route, Unconfigured } from '../batcher.ts';
import { chatDialect, lineBody } from '../openai/openai-calls.ts';
import { onOneLine } from '../shared/json-text.ts';
import { decoded } from '../shared/paths.ts';
import { settingsAdvice } from './bedrock-places.ts';
import { converseFrames, invokeFrames } from './bedrock-streams.ts';

const inPath = /^\/model\/([^/]+)\/(invoke|converse)(-with-response-stream|-stream)?$/;

/** Headers of a call that a record has no place for. */
const perCall = /^x-amzn-bedrock-(guardrail|trace|performanceconfig|service-tier)/;

/** Members of a body that are refused, or not applied, in a job. */
const refusedMembers: Readonly<Record<string, string>> = {
  toolConfig:
    'jobs of Converse refuse `toolConfig`; the same request with the tools in the body of InvokeModel is batched',
  guardrailConfig: 'guardrails are not applied in jobs',
  'amazon-bedrock-guardrailConfig': 'guardrails are not applied in jobs',
  performanceConfig: 'jobs have no `performanceConfig`',
  serviceTier: 'jobs have no `serviceTier`',
  promptVariables: 'jobs have no prompts with `promptVariables`',
};

/** How lines and creates of OpenAI's wire name its endpoint. */
export const chatEndpoint = '/v1/chat/completions';

/** How a call of Bedrock travels. */
export function matchBedrock(call: Call): Match {
  return call.path === `/openai${chatEndpoint}` ? matchChat(call) : matchModelCall(call);
}

/** Bedrock's chat completions, which are for OpenAI's models in batches. */
function matchChat(call: Call): Match {
  const { json, body } = call;
  const { model, stream } = json;
  if (typeof model !== 'string') return { bypass: 'the body names no model' };
  const reason =
    headerBypass(call.headers) ?? (isForJob(call) ? whyNoChat(model, json) : undefined);
  if (reason !== undefined) return { bypass: reason };
  const line = onOneLine(body);
  return (
    unconfigured(call, chatEndpoint, model) ?? {
      endpoint: chatEndpoint,
      model,
      batchHeaders: {},
      ...placed(call),
      body: lineBody(line, 'stream' in json),
      ...(stream === true && { stream: chatDialect(call) }),
    }
  );
}

function whyNoChat(model: string, { service_tier: tier }: Call['json']): string | undefined {
  if (!/(^|[./])openai\./.test(model)) {
    return 'Bedrock batches models of OpenAI only at this path; Converse is batched';
  }
  return tier === undefined || tier === 'default' ? undefined : 'a batch has no service tier';
}

/** In the realtime lane a call asks for whatever Bedrock takes outside of jobs. */
function isForJob({ lane }: Pick<Call, 'lane'>): boolean {
  return lane !== 'realtime';
}

/** The model stands in the path, and so does whether a stream is wanted. */
function matchModelCall(call: Call): Match {
  const { path, headers, json, body } = call;
  const [, segment, way, streaming] = inPath.exec(path) ?? [];
  if (segment === undefined) return { bypass: 'the path names no model' };
  const model = decoded(segment);
  const reason = headerBypass(headers) ?? (isForJob(call) ? whyUnbatched(model, json) : undefined);
  if (reason !== undefined) return { bypass: reason };
  const endpoint = way === 'converse' ? 'Converse' : 'InvokeModel';
  const isClaude = json.anthropic_version !== undefined;
  if (streaming !== undefined && endpoint === 'InvokeModel' && !isClaude) {
    return { bypass: 'the pieces of its stream are known for Claude only' };
  }
  if (streaming !== undefined && json.guardrailConfig !== undefined) {
    return { bypass: 'the guardrail of a stream is not that of an answer in one piece' };
  }
  return (
    unconfigured(call, endpoint, model) ?? {
      endpoint,
      model,
      batchHeaders: {},
      ...placed(call),
      body: onOneLine(body),
      ...(streaming !== undefined && { stream: dialects[endpoint] }),
    }
  );
}

function unconfigured(
  { settings, lane }: Call,
  endpoint: string,
  model: string,
): Unconfigured | undefined {
  if (isConfigured(settings) || (lane ?? 'batch') !== 'batch') return undefined;
  return { unconfigured: settingsAdvice, endpoint, model };
}

function isConfigured({ bucket, roleArn }: Call['settings']): boolean {
  return typeof bucket === 'string' && typeof roleArn === 'string';
}

/** Scopes with different buckets must not share a batch. */
function placed({ query, settings }: Call): Pick<Route, 'identity' | 'partition' | 'lacks'> {
  const { bucket, roleArn, region, s3Endpoint } = settings;
  return {
    identity: query === '' ? [] : [query],
    partition: [bucket, roleArn, region, s3Endpoint].join(),
    ...(!isConfigured(settings) && { lacks: settingsAdvice }),
  };
}

const dialects: Readonly<Record<'Converse' | 'InvokeModel', StreamDialect>> = {
  Converse: converseFrames,
  InvokeModel: invokeFrames,
};

function whyUnbatched(model: string, json: Call['json']): string | undefined {
  if (/:(provisioned-model|prompt|default-prompt-router|prompt-router)\//.test(model)) {
    return 'jobs take models and inference profiles, and no provisioned throughput, prompt or router';
  }
  const member = Object.keys(refusedMembers).find((name) => json[name] !== undefined);
  if (member !== undefined) return refusedMembers[member];
  const refused = refusedInBatches(json);
  return refused && `${refused} inside a batch`;
}

function headerBypass(headers: Call['headers']): string | undefined {
  const header = Object.keys(headers).find((name) => perCall.test(name));
  return header && `a record of a batch has no headers, so it cannot have ${header}`;
}
