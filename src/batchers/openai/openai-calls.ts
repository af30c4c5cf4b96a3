import { field } from '../../base/json.ts';
import { openaiChat } from '../../streams/openai-chat.ts';
import { openaiCompletions } from '../../streams/openai-completions.ts';
import { openaiResponses } from '../../streams/openai-responses.ts';
import type { StreamDialect } from '../../streams/stream-dialect.ts';
import type { Call } from '../batcher.ts';
import { withoutMembers } from '../shared/json-text.ts';

/** Said even where ordinary calls need no model: batchling does not guess which one the provider would take. */
export const noModel = 'the body names no model, and a batch is for one model';

/** Members of a body that only ask for a stream: a line of a batch has none. */
const streaming: ReadonlySet<string> = new Set(['stream', 'stream_options']);
const streamingAndTier: ReadonlySet<string> = new Set([...streaming, 'service_tier']);

export function lineBody(line: string, isStreamed: boolean, isTierLeftOut = false): string {
  if (isTierLeftOut) return withoutMembers(line, streamingAndTier);
  return isStreamed ? withoutMembers(line, streaming) : line;
}

/** Chat completions as the events of a stream, with their usage if the call asks for it. */
export function chatDialect({ json }: Pick<Call, 'json'>): StreamDialect {
  return openaiChat({ includeUsage: field(json.stream_options, 'include_usage') === true });
}

/** How a streamed answer to this call is told; `undefined` where there is none. */
export function openaiDialect({
  path,
  json,
}: Pick<Call, 'path' | 'json'>): StreamDialect | undefined {
  if (path === '/responses') return openaiResponses;
  if (path === '/chat/completions') return chatDialect({ json });
  const includeUsage = field(json.stream_options, 'include_usage') === true;
  return path === '/completions' ? openaiCompletions({ includeUsage }) : undefined;
}

export function noStream(path: string): string {
  return path.startsWith('/images/')
    ? 'a batch has no partial images: leave `stream` out'
    : 'this endpoint has no streamed answers';
}
