import { isObject, type JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import { type Content, type Demand, toolToCall } from '../world/model/content.ts';
import type { Dialect, DialectAnswer } from '../world/model/execute.ts';
import { estimateTokens } from '../world/model/prompt.ts';
import { listOf } from '../world/model/stream-pieces.ts';
import { newId } from '../world/random.ts';

const known = [
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'additionalModelRequestFields',
  'additionalModelResponseFieldPaths',
  'requestMetadata',
  'outputConfig',
];
/** What ordinary calls may have beside. */
const notInJobs = ['guardrailConfig', 'performanceConfig', 'promptVariables', 'serviceTier'];

export function converseDialect(mode: 'batch' | 'realtime', modelOf: Dialect['model']): Dialect {
  return {
    provider: 'bedrock',
    ...(modelOf && { model: modelOf }),
    prompt: (_endpoint, body) => textOf(listOf(body.messages).at(-1)),
    check: (_endpoint, body) => check(body, mode),
    unknownModel,
    demand: (_endpoint, body) => demandOf(body),
    answer: (_endpoint, body, content) => answer(body, content),
    encode: (_endpoint, _body, given) => given,
    inputTokens: (_endpoint, body) => estimateTokens(JSON.stringify(body.messages ?? '')),
  };
}

export function unknownModel(): Outcome {
  return { kind: 'refused', status: 400, message: 'The provided model identifier is invalid.' };
}

function check(body: JsonObject, mode: 'batch' | 'realtime'): Outcome | null {
  const allowed = mode === 'realtime' ? [...known, ...notInJobs] : known;
  const extra = Object.keys(body).find((name) => !allowed.includes(name));
  if (extra !== undefined) return refused(`#: extraneous key [${extra}] is not permitted`);
  if (mode === 'batch' && body.toolConfig !== undefined) {
    return refused('toolConfig is not supported in batch inference with Converse.');
  }
  const messages = listOf(body.messages);
  const isWhole = messages.every(({ content }) => Array.isArray(content) && content.length > 0);
  if (messages.length > 0 && isWhole) return null;
  return refused('The messages field is required, with content blocks in each message.');
}

function refused(message: string): Outcome {
  return { kind: 'refused', status: 400, message };
}

function textOf(message: JsonObject | undefined): string {
  return listOf(message?.content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

function answer(body: JsonObject, given: Content | null): DialectAnswer {
  const { text, toolCalls } = given ?? { text: null, toolCalls: [] };
  const called = toolCalls.map((call) => ({
    toolUse: { toolUseId: newId('tooluse_'), name: call.name, input: call.arguments },
  }));
  const content = [...(text === null ? [] : [{ text }]), ...called];
  const inputTokens = estimateTokens(JSON.stringify(body.messages ?? ''));
  const outputTokens = estimateTokens(JSON.stringify(content));
  return {
    body: {
      metrics: { latencyMs: 5 },
      output: { message: { content, role: 'assistant' } },
      stopReason: called.length > 0 ? 'tool_use' : 'end_turn',
      usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    },
    inputTokens,
    outputTokens,
  };
}

/** Tools are called once per question. */
function demandOf({ toolConfig, messages }: JsonObject): Demand {
  const { tools, toolChoice } = isObject(toolConfig) ? toolConfig : {};
  const named = listOf(tools).map(({ toolSpec }) => (isObject(toolSpec) ? toolSpec : {}));
  const asked = named.map(({ name, inputSchema }) => ({
    name: String(name),
    schema: isObject(inputSchema) ? inputSchema.json : {},
  }));
  const last = listOf(listOf(messages).at(-1)?.content);
  const hasResults = last.some(({ toolResult }) => toolResult !== undefined);
  const isForced = isObject(toolChoice) && toolChoice.any !== undefined;
  return { tool: toolToCall(asked, isForced ? 'required' : 'auto', hasResults), format: 'text' };
}

/** The same answer told as the events of a stream. */
export function converseEvents(answer: JsonObject): (readonly [string, object])[] {
  const { message } = answer.output as { message: JsonObject };
  const blocks = listOf(message.content).flatMap((block, contentBlockIndex) => {
    const { toolUse } = block as { toolUse?: JsonObject };
    const { input, ...named } = toolUse ?? {};
    const delta = toolUse ? { toolUse: { input: JSON.stringify(input) } } : block;
    return [
      ...(toolUse
        ? [['contentBlockStart', { contentBlockIndex, start: { toolUse: named } }] as const]
        : []),
      ['contentBlockDelta', { contentBlockIndex, delta }] as const,
      ['contentBlockStop', { contentBlockIndex }] as const,
    ];
  });
  return [
    ['messageStart', { role: 'assistant' }],
    ...blocks,
    ['messageStop', { stopReason: answer.stopReason }],
    ['metadata', { usage: answer.usage, metrics: answer.metrics }],
  ];
}
