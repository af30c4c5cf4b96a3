import { STATUS_CODES } from 'node:http';
import { field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import { errorStatus } from '../anthropic/anthropic-wire.ts';
import type { Outcome, Row } from '../batcher.ts';
import { outcomeOfError } from '../google/google-results.ts';
import { errorAnswer } from '../google/google-status.ts';
import { memberText } from '../shared/json-text.ts';
import { answerHeaders } from '../shared/outcomes.ts';
import { statusByWords } from '../shared/status-by-words.ts';
import { echoOf, unnamed } from './vertex-echoes.ts';
import { idOfLabel, labelName } from './vertex-labels.ts';

/**
 * One row of the output. It is known by its `key` or `custom_id`, else by the label of the request it
 * echoes, else by that request itself: then its id is one of `unnamed`, which only the input can tell.
 */
export function readRow(line: string): Row {
  const parsed = parseJson(line);
  const { key, custom_id: customId, request } = fields(parsed);
  const labelled = idOfLabel(field(field(request, 'labels'), labelName));
  const named = text(key) ?? text(customId);
  const isTorn = named !== undefined && labelled !== undefined && named !== labelled;
  const id = named ?? labelled ?? (isEmpty(request) ? undefined : unnamed(echoOf(request)));
  if (id === undefined || isTorn) return { broken: line.slice(0, 200) };
  return { id, outcome: outcomeIn(line, parsed) };
}

function outcomeIn(line: string, row: unknown): Outcome {
  const { response, status, error, request, custom_id: customId } = fields(row);
  // Exports of Claude may hold the message as text.
  const answered = typeof response === 'string' ? parseJson(response) : response;
  const isClaude = customId !== undefined || field(request, 'anthropic_version') !== undefined;
  const answerOf = isClaude ? claudeError : errorAnswer;
  const inResponse = field(answered, 'error');
  if (!isEmpty(inResponse)) return outcomeOfError(answerOf(inResponse));
  if (!isEmpty(answered)) {
    const body = typeof response === 'string' ? response : (memberText(line, 'response') ?? 'null');
    const answer = { status: 200, headers: answerHeaders('', undefined), body, json: answered };
    return { kind: 'answer', answer };
  }
  const told = isEmpty(error) ? errorIn(status) : error;
  if (told !== undefined) return outcomeOfError(answerOf(told));
  const last = answerOf({ code: 500, message: 'The provider did not answer this request.' });
  return { kind: 'retry', reason: 'never-ran', last };
}

/** `Bad Request: {"error": {"code": 400, …}}`, or words alone. */
function errorIn(status: unknown): unknown {
  if (!isEmpty(status)) return status;
  const words = text(status);
  if (words === undefined) return undefined;
  const start = words.indexOf('{');
  const json = start < 0 ? undefined : parseJson(words.slice(start));
  const inner = fields(field(json, 'error') ?? json);
  const head = (start < 0 ? words : words.slice(0, start)).replace(/[:\s]+$/, '');
  const code = phrases.get(head.toLowerCase()) ?? errorStatus.of(text(inner.type));
  return { code: code ?? statusByWords(words), message: words, ...inner };
}

const phrases = new Map(
  Object.entries(STATUS_CODES).map(([status, phrase = '']) => [
    phrase.toLowerCase(),
    Number(status),
  ]),
);

/** The same error in the words of Claude's own API, which its clients expect. */
function claudeError(error: unknown): Answer {
  const given = text(field(error, 'type'));
  const isCoded = Number.isInteger(field(error, 'code'));
  const status = (isCoded ? undefined : errorStatus.of(given)) ?? errorAnswer(error).status;
  const message = text(field(error, 'message')) ?? 'The provider gave no reason.';
  const type = given ?? errorStatus.typeFor(status);
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'error', error: { type, message } }),
  };
}
