import type { Answer } from '../../base/types.ts';
import { googleArray, googleEvents } from '../../streams/google.ts';
import type { Call, Match, Route } from '../batcher.ts';
import { elementTexts, memberText, onOneLine, withoutMembers } from '../shared/json-text.ts';
import { isLeftOut, ownTier, tierBypass } from '../shared/own-tier.ts';
import { tierNames } from './google-flex.ts';

/** Model and method of `/models/gemini:generateContent`. */
const inPath = /\/models\/([^/]+):(\w+)$/;

/** How a call of the Gemini API travels: the model is in its path, and so is whether it is streamed. */
export function matchGemini(call: Call): Match {
  const [, model, method] = inPath.exec(call.path) ?? [];
  if (model === undefined) return { bypass: 'the path names no model' };
  const { serviceTier, service_tier } = call.json;
  const tier = ownTier(call, serviceTier ?? service_tier);
  const chosen = tierBypass(tier);
  if (chosen !== undefined) return { bypass: chosen };
  const line = onOneLine(call.body);
  const body = isLeftOut(call, tier) ? withoutMembers(line, tierNames) : line;
  switch (method) {
    case 'generateContent':
      return routeOf(call, 'generateContent', model, body);
    case 'streamGenerateContent': {
      const stream = isAskedAsEvents(call.query) ? googleEvents : googleArray;
      return { ...routeOf(call, 'generateContent', model, body), stream };
    }
    case 'embedContent':
      return routeOf(call, 'embedContent', model, body);
    case 'batchEmbedContents':
      return embeddings(call, model, body);
    default:
      return { bypass: `${method} has no batches` };
  }
}

/** The same call with its answer in one piece, and one content to embed. */
export function ordinaryGemini({ path, query }: Pick<Call, 'path' | 'query'>): string {
  const whole = path
    .replace(/:streamGenerateContent$/, ':generateContent')
    .replace(/:streamRawPredict$/, ':rawPredict')
    .replace(/:batchEmbedContents$/, ':embedContent');
  return `${whole}${withoutAlt(query)}`;
}

function routeOf(call: Call, endpoint: string, model: string, body: string): Route {
  const query = withoutAlt(call.query);
  return { endpoint, model, batchHeaders: {}, identity: query === '' ? [] : [query], body };
}

/** Several contents in one call: a request of a batch embeds one. */
function embeddings(call: Call, model: string, body: string): Match {
  const { requests } = call.json;
  const isList = Array.isArray(requests) && requests.length > 0;
  if (!isList || !requests.every((request) => typeof request === 'object' && request !== null)) {
    return { bypass: '`requests` is not a list of contents to embed' };
  }
  const texts = elementTexts(memberText(body, 'requests') ?? '[]');
  return { parts: texts.map((text) => routeOf(call, 'embedContent', model, text)), join };
}

function join(answers: readonly Answer[]): Answer {
  const embedded = answers.map(({ body }) => {
    const embedding = memberText(body, 'embedding');
    if (embedding === undefined) throw new Error('an answer holds no embedding');
    return embedding;
  });
  return { ...(answers[0] as Answer), body: `{"embeddings":[${embedded.join(',')}]}` };
}

/** How the answer is written is not part of what was asked. */
function withoutAlt(query: string): string {
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !/^(%24|\$)?alt=/.test(pair));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function isAskedAsEvents(query: string): boolean {
  const parameters = new URLSearchParams(query);
  return (parameters.get('alt') ?? parameters.get('$alt')) === 'sse';
}
