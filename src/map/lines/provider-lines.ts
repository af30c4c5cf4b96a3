import { isObject } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import { memberText, onOneLine } from '../../batchers/shared/json-text.ts';
import { type BadLine, type LineFormat, parseLine } from './line-format.ts';

/** What OpenAI's batch files hold: `{"custom_id","method","url","body"}`. */
export const openaiLines: LineFormat = {
  name: 'openai',
  hasIds: true,
  read(text) {
    const line = parseLine(text);
    if ('bad' in line) return line;
    const { custom_id: id, method = 'POST', url, body } = line.json;
    if (typeof id !== 'string' || id === '') return noId('custom_id', id);
    if (method !== 'POST') return { bad: `its "method" is ${show(method)}, and not "POST"`, id };
    if (typeof url !== 'string' || !url.startsWith('/')) {
      return { bad: 'it has no "url" such as "/v1/chat/completions"', id };
    }
    if (!isObject(body)) return { bad: 'its "body" is not an object', id };
    const path = url.startsWith('/v1/') ? url.slice(3) : url;
    return { id, path, body: memberText(text, 'body') as string, json: body };
  },
  idOf: (text) => textOf(text, 'custom_id'),
  value: wholeBody,
  write(text, number, answer) {
    const id = firstMember(text, 'custom_id');
    const request = JSON.stringify(requestIdOf(answer));
    const response = `{"status_code":${answer.status},"request_id":${request},"body":${onOneLine(answer.body)}}`;
    const line = `{"id":"line_${number + 1}","custom_id":${id},"response":${response},"error":null}`;
    return { line };
  },
};

/** What Anthropic's batches hold: `{"custom_id","params"}`. */
export const anthropicLines: LineFormat = {
  name: 'anthropic',
  hasIds: true,
  read(text) {
    const line = parseLine(text);
    if ('bad' in line) return line;
    const { custom_id: id, params } = line.json;
    if (typeof id !== 'string' || id === '') return noId('custom_id', id);
    if (!isObject(params)) return { bad: 'its "params" are not an object', id };
    return { id, path: '/messages', body: memberText(text, 'params') as string, json: params };
  },
  idOf: (text) => textOf(text, 'custom_id'),
  value: wholeBody,
  write(text, _number, answer) {
    const message = onOneLine(answer.body);
    const id = firstMember(text, 'custom_id');
    return { line: `{"custom_id":${id},"result":{"type":"succeeded","message":${message}}}` };
  },
};

/** What Gemini's batch files hold: `{"key","request"}`. The model is not in them. */
export function googleLines(model: string): LineFormat {
  return {
    name: 'google',
    hasIds: true,
    read(text) {
      const line = parseLine(text);
      if ('bad' in line) return line;
      const { key: id, request } = line.json;
      if (typeof id !== 'string' || id === '') return noId('key', id);
      if (!isObject(request)) return { bad: 'its "request" is not an object', id };
      const path = `/models/${model}:generateContent`;
      return { id, path, body: memberText(text, 'request') as string, json: request };
    },
    idOf: (text) => textOf(text, 'key'),
    value: wholeBody,
    write(text, _number, answer) {
      return { line: `{"key":${firstMember(text, 'key')},"response":${onOneLine(answer.body)}}` };
    },
  };
}

function noId(member: string, id: unknown): BadLine {
  const isOther = id !== undefined && id !== '';
  return {
    bad: isOther ? `its "${member}" is ${show(id)}, and not a text` : `it has no "${member}"`,
  };
}

function wholeBody({ body, json }: Answer): { readonly value: unknown } {
  return { value: json ?? JSON.parse(body) };
}

/** The text of an id, which nearly always stands first. */
function firstMember(text: string, member: string): string | undefined {
  const start = `{"${member}":"`;
  const end = text.indexOf('"', start.length);
  const id = text.slice(start.length - 1, end + 1);
  const isFirst = text.startsWith(start) && !id.includes('\\');
  // If two members have one name, the last one counts.
  return isFirst && !text.includes(`"${member}"`, end) ? id : memberText(text, member);
}

function textOf(text: string, member: string): string {
  return JSON.parse(firstMember(text, member) ?? '""') as string;
}

function requestIdOf({ headers }: Answer): string {
  return headers['x-request-id'] ?? headers['request-id'] ?? '';
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
