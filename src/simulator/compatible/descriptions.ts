import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { isObject, type JsonObject } from '../server/json.ts';

const chat = '/v1/chat/completions';
const completions = '/v1/completions';
const embeddings = '/v1/embeddings';

/** OpenAI's, without what only OpenAI has. */
const common: Omit<OpenAILike, 'name' | 'endpoints'> = {
  ...openaiDescription,
  barePaths: [],
  createFields: ['input_file_id', 'endpoint', 'completion_window', 'metadata'],
  scopeHeaders: [],
  bytesPerBatch: 100_000_000,
  batchObject: ({ model: _model, usage: _usage, ...batch }) => batch,
};

export const deepinfraDescription: OpenAILike = {
  ...common,
  name: 'deepinfra',
  root: '/v1/openai',
  endpoints: [chat, completions, embeddings],
  createFields: [...common.createFields, 'output_expires_after'],
};

export const nebiusDescription: OpenAILike = {
  ...common,
  name: 'nebius',
  endpoints: [chat, embeddings],
  createFields: [...common.createFields, 'override_settings'],
  requestsPerBatch: 5_000_000,
  bytesPerBatch: 10_000_000_000,
};

export const parasailDescription: OpenAILike = {
  ...common,
  name: 'parasail',
  endpoints: [chat, embeddings],
};

export const siliconflowDescription: OpenAILike = {
  ...common,
  name: 'siliconflow',
  endpoints: [chat],
  windows: hoursFrom(24, 336),
  createFields: [...common.createFields, 'replace'],
  requestsPerBatch: 5_000,
  bytesPerBatch: 1_000_000_000,
  statuses: { validating: 'in_queue' },
  batchObject: ({ model: _model, usage: _usage, ...batch }) => ({
    ...batch,
    errors: messagesOf(batch.errors),
    request_counts: batch.status === 'in_queue' ? null : batch.request_counts,
  }),
  refuses({ messages }) {
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    const isUser = isObject(last) && last.role === 'user';
    return isUser ? undefined : 'The last message must be from the user.';
  },
};

export const dashscopeDescription: OpenAILike = {
  ...common,
  name: 'dashscope',
  root: '/compatible-mode/v1',
  endpoints: [chat, embeddings],
  windows: [...hoursFrom(24, 336), ...daysUpTo(14)],
  fileIdPrefix: 'file-batch-',
  bytesPerBatch: 500_000_000,
  failedLinesInOutput: true,
  refuses(body, first) {
    if (JSON.stringify(body).length > 6_000_000) return 'A line may have at most 6 MB.';
    const isSame = body.enable_thinking === first.enable_thinking;
    return isSame ? undefined : 'All lines must have the same enable_thinking.';
  },
};

export const moonshotDescription: OpenAILike = {
  ...common,
  name: 'moonshot',
  endpoints: [chat],
  windows: ['12h', ...daysUpTo(7)],
  lateCancelStatus: 400,
  refuses(body) {
    const field = ['temperature', 'top_p'].find((name) => name in body);
    return field === undefined ? undefined : `${field} cannot be set in a batch.`;
  },
};

export const zhipuDescription: OpenAILike = {
  ...common,
  name: 'zhipu',
  root: '/api/paas/v4',
  endpoints: ['/v4/chat/completions', '/v4/embeddings'],
  createFields: [...common.createFields, 'auto_delete_input_file'],
  answersAs: (endpoint) => endpoint.replace('/v4', '/v1'),
  batchObject: withFlatCounts,
};

export const novitaDescription: OpenAILike = {
  ...common,
  name: 'novita',
  root: '/openai/v1',
  endpoints: [chat, completions],
  bareLines: true,
  statuses: {
    validating: 'VALIDATING',
    in_progress: 'PROGRESS',
    finalizing: 'PROGRESS',
    cancelling: 'CANCELLING',
    completed: 'COMPLETED',
    failed: 'FAILED',
    expired: 'EXPIRED',
    cancelled: 'CANCELLED',
  },
  batchObject: withFlatCounts,
};

export const ovhcloudDescription: OpenAILike = {
  ...common,
  name: 'ovhcloud',
  endpoints: [chat, '/v1/responses'],
  windows: ['24h', '48h', '72h'],
  usualWindow: '48h',
};

export const qianfanDescription: OpenAILike = {
  ...common,
  name: 'qianfan',
  root: '/v2',
  endpoints: ['/v2/chat/completions'],
  windows: hoursFrom(1, 672),
  createFields: [...common.createFields, 'replace'],
  batchIdPrefix: 'infer-',
  requestsPerBatch: 5_000,
  bytesPerBatch: 1_000_000_000,
  answersAs: (endpoint) => endpoint.replace('/v2', '/v1'),
  statuses: {
    validating: 'Queuing',
    in_progress: 'Running',
    finalizing: 'Running',
    cancelling: 'Stopping',
    completed: 'Done',
    failed: 'Failed',
    expired: 'Expired',
    cancelled: 'Stopped',
  },
};

/** Its counts stand beside its status. */
function withFlatCounts(batch: JsonObject): JsonObject {
  const { model: _model, usage: _usage, request_counts: counts, ...rest } = batch;
  return isObject(counts) ? { ...rest, ...counts } : rest;
}

function messagesOf(errors: unknown): string[] | null {
  if (!isObject(errors) || !Array.isArray(errors.data)) return null;
  return errors.data.map((error) => String(isObject(error) ? error.message : error));
}

function hoursFrom(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${first + index}h`);
}

function daysUpTo(most: number): string[] {
  return Array.from({ length: most }, (_, index) => `${index + 1}d`);
}
