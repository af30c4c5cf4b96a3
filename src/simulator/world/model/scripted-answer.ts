import { isObject, type JsonObject } from '../../server/json.ts';
import type { Outcome } from '../batches/batch.ts';
import type { AnswerFunction, SimulatedAnswer, SimulatedRequest } from './answer-function.ts';
import type { Content } from './content.ts';

/** What an answer function has decided. */
export type Scripted =
  | { kind: 'ordinary' }
  | { kind: 'content'; content: Content }
  | { kind: 'body'; body: JsonObject }
  | { kind: 'refused'; outcome: Outcome };

const warned = new WeakMap<AnswerFunction, Set<string>>();

/** Asks an answer function. Its mistakes become an answer, and a warning for its author. */
export async function askFunction(
  answer: AnswerFunction,
  request: SimulatedRequest,
): Promise<Scripted> {
  try {
    return understand(await answer(request));
  } catch (error) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const message = `The simulator's answer function failed: ${what}`;
    warnOnce(answer, message, error);
    return { kind: 'refused', outcome: { kind: 'refused', status: 500, message } };
  }
}

function understand(answer: SimulatedAnswer): Scripted {
  if (answer === undefined) return { kind: 'ordinary' };
  if (typeof answer === 'string') {
    return { kind: 'content', content: { text: answer, toolCalls: [] } };
  }
  if (!isObject(answer)) {
    const what = Array.isArray(answer) ? 'a list' : String(answer);
    throw new TypeError(
      `it returned ${what}; return a text, { toolCalls }, { status, body }, a response body, ` +
        'or undefined for the ordinary answer',
    );
  }
  // Printed and read again: what cannot be sent fails here, and nobody changes it later.
  const value = JSON.parse(JSON.stringify(answer)) as JsonObject;
  if (typeof value.status === 'number') return withStatus(value.status, value.body);
  if (Array.isArray(value.toolCalls)) return calling(value.toolCalls, value.text);
  return { kind: 'body', body: value };
}

function withStatus(status: number, body: unknown): Scripted {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new TypeError(`it returned the status ${status}; it must be from 200 to 599`);
  }
  if (status < 300) {
    return isObject(body) ? { kind: 'body', body } : understand(body as string | undefined);
  }
  const message = typeof body === 'string' ? body : `simulated status ${status}`;
  const whole = isObject(body) ? { body } : {};
  return { kind: 'refused', outcome: { kind: 'refused', status, message, ...whole } };
}

function calling(toolCalls: readonly unknown[], text: unknown): Scripted {
  const calls = toolCalls.map((call) => {
    if (isObject(call) && typeof call.name === 'string' && isObject(call.arguments)) {
      return { name: call.name, arguments: call.arguments };
    }
    throw new TypeError(
      `it returned the tool call ${JSON.stringify(call)}; each must be { name, arguments }`,
    );
  });
  const content = { text: typeof text === 'string' ? text : null, toolCalls: calls };
  return { kind: 'content', content };
}

function warnOnce(answer: AnswerFunction, message: string, error: unknown): void {
  const known = warned.get(answer) ?? new Set();
  warned.set(answer, known);
  if (known.has(message)) return;
  known.add(message);
  const detail = error instanceof Error ? error.stack : undefined;
  process.emitWarning(message, {
    type: 'SimulatorWarning',
    ...(detail === undefined ? {} : { detail }),
  });
}
