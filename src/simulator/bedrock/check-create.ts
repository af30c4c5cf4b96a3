import { isObject, type JsonObject } from '../server/json.ts';
import type { BedrockJob } from './details.ts';
import { refusal } from './errors.ts';

const known = [
  'jobName',
  'roleArn',
  'clientRequestToken',
  'modelId',
  'modelInvocationType',
  'inputDataConfig',
  'outputDataConfig',
  'vpcConfig',
  'timeoutDurationInHours',
  'tags',
];

/** The body of a create, with the patterns of the service's own description. */
export function checkCreate(body: JsonObject): BedrockJob {
  const extra = Object.keys(body).find((name) => !known.includes(name));
  if (extra !== undefined) throw refusal(400, `Unknown member ${extra}`);
  const { jobName, roleArn, clientRequestToken: token = '', modelId, tags } = body;
  const { modelInvocationType: type = 'InvokeModel', timeoutDurationInHours: hours = 24 } = body;
  demand(jobName, /^[a-zA-Z0-9]{1,63}(-*[a-zA-Z0-9+\-.]){0,63}$/, 'jobName');
  demand(roleArn, /^arn:aws(-[^:]+)?:iam::\d{12}:role\/.+$/, 'roleArn');
  demand(token, /^([a-zA-Z0-9]{1,256}(-*[a-zA-Z0-9]){0,256})?$/, 'clientRequestToken');
  demand(modelId, /^.{1,2048}$/, 'modelId');
  demand(type, /^(InvokeModel|Converse)$/, 'modelInvocationType');
  if (String(jobName).length > 63) throw refusal(400, 'jobName has more than 63 characters');
  const isTime = Number.isInteger(hours) && Number(hours) >= 24 && Number(hours) <= 168;
  if (!isTime) throw refusal(400, 'timeoutDurationInHours must be 24 to 168');
  checkTags(tags);
  const input = part(body.inputDataConfig, 's3InputDataConfig');
  const output = part(body.outputDataConfig, 's3OutputDataConfig');
  demand(input.s3Uri, /^s3:\/\/[a-z0-9.-]{3,63}(\/.+\.jsonl)$/, 'inputDataConfig');
  demand(output.s3Uri, /^s3:\/\/[a-z0-9.-]{3,63}(\/.*)?$/, 'outputDataConfig');
  if (input.s3InputFormat !== 'JSONL') throw refusal(400, 's3InputFormat must be JSONL');
  return {
    name: String(jobName),
    token: String(token),
    modelId: String(modelId),
    roleArn: String(roleArn),
    type: type as BedrockJob['type'],
    inputUri: String(input.s3Uri),
    outputUri: String(output.s3Uri),
    hours: Number(hours),
    requests: [],
    echoes: new Map(),
    problem: null,
  };
}

function demand(value: unknown, pattern: RegExp, name: string): void {
  if (typeof value === 'string' && pattern.test(value)) return;
  throw refusal(400, `Value at '${name}' failed to satisfy constraint: ${pattern.source}`);
}

function part(value: unknown, name: string): JsonObject {
  const inner = isObject(value) ? value[name] : undefined;
  if (isObject(inner)) return inner;
  throw refusal(400, `Value at '${name}' must not be null`);
}

function checkTags(tags: unknown): void {
  if (tags === undefined) return;
  const isGood = (text: unknown) =>
    typeof text === 'string' && /^[\p{L}\p{N}\s_.:/=+@-]{0,256}$/u.test(text);
  const isTag = (tag: unknown) => isObject(tag) && isGood(tag.key) && isGood(tag.value);
  if (!Array.isArray(tags) || !tags.every(isTag)) {
    throw refusal(400, 'tags: a key and a value each, in letters that tags may have');
  }
  const keys = new Set(tags.map(({ key }: { key?: unknown }) => key));
  if (keys.size < tags.length) throw refusal(400, 'tags: a key may be given once only');
}
