import { isObject, type JsonObject } from '../../base/json.ts';
import { callOf, list, readParts, resultOf } from './read-parts.ts';
import type { Message, Part, Readable, Tool } from './readable.ts';

const shown = [
  ...['messages', 'input', 'contents', 'prompt', 'instructions', 'system', 'systemInstruction'],
  ...['system_instruction', 'tools', 'toolConfig', 'model'],
];

export function readQuestion(body: JsonObject): Readable {
  const first = [body.instructions, body.system, body.systemInstruction, body.system_instruction];
  const system = first.flatMap((one) => readParts(isObject(one) ? (one.parts ?? one) : one));
  const messages: Message[] = system.length > 0 ? [{ role: 'system', parts: system }] : [];
  for (const one of list(body.messages ?? body.contents ?? body.input ?? body.prompt)) {
    messages.push(readMessage(one));
  }
  const settings = Object.entries(body).filter(([name]) => !shown.includes(name));
  const tools = isObject(body.toolConfig) ? body.toolConfig.tools : body.tools;
  return { messages, settings, tools: list(tools).flatMap(readTools) };
}

export function readMessage(message: unknown): Message {
  if (!isObject(message)) return { role: 'user', parts: readParts(message) };
  const { type, role = 'user' } = message;
  if (type === 'function_call') {
    return { role: 'assistant', parts: [callOf(message.name, message.arguments)] };
  }
  if (type === 'function_call_output') {
    return { role: 'tool', parts: [resultOf(message.call_id, message.output)] };
  }
  const content = message.content ?? message.parts;
  const parts: Part[] =
    role === 'tool' ? [resultOf(message.tool_call_id, content)] : readParts(content);
  return { role: String(role), parts: [...parts, ...list(message.tool_calls).flatMap(readCall)] };
}

export function readCall(call: unknown): Part[] {
  if (!isObject(call)) return [];
  const { function: of } = call;
  return [isObject(of) ? callOf(of.name, of.arguments) : { kind: 'json', value: call }];
}

function readTools(tool: unknown): Tool[] {
  if (!isObject(tool)) return [];
  const declared = list(tool.functionDeclarations ?? tool.function_declarations);
  if (declared.length > 0) return declared.flatMap(readTools);
  const of = [tool.function, tool.toolSpec].find(isObject) ?? tool;
  const { name = tool.type, description, parameters, input_schema, inputSchema } = of;
  return [
    {
      name: String(name ?? 'tool'),
      ...(typeof description === 'string' && { description }),
      schema: parameters ?? input_schema ?? inputSchema,
    },
  ];
}
