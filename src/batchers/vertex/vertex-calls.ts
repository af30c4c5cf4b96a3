import { anthropicMessages } from '../../streams/anthropic.ts';
import { refusedInBatches } from '../anthropic/refused-in-batches.ts';
import type { Call, Match, Route } from '../batcher.ts';
import { matchGemini } from '../google/google-calls.ts';
import { onOneLine, withoutMembers } from '../shared/json-text.ts';
import { ownTier, tierBypass } from '../shared/own-tier.ts';
import { decoded } from '../shared/paths.ts';

/** `/projects/p/locations/l/publishers/google/models/gemini:generateContent`. */
const inPath =
  /^(\/projects\/[^/]+\/locations\/([^/]+))\/publishers\/([^/]+)\/models\/([^/]+):\w+$/;

const streaming: ReadonlySet<string> = new Set(['stream']);

/** How a call of Vertex AI travels: Gemini's like those of its own API, Claude's without `stream`. */
export function matchVertex(call: Call): Match {
  const [, parent, location, publisher, inUrl] = inPath.exec(call.path) ?? [];
  if (parent === undefined || publisher === undefined || inUrl === undefined) {
    return { bypass: 'the path names no project, location and model' };
  }
  const match = publisher === 'anthropic' ? matchClaude(call, location) : matchContent(call);
  if (!('endpoint' in match) || 'unconfigured' in match) return match;
  const endpoint = `${parent}/publishers/${publisher}`;
  const model = decoded(inUrl);
  const { bucket } = call.settings;
  // Scopes with different buckets must not share a batch.
  if (typeof bucket === 'string') return { ...match, endpoint, model, partition: bucket };
  const { lane = 'batch' } = call;
  if (lane !== 'batch') return { ...match, endpoint, model, lacks: bucketAdvice };
  return { unconfigured: bucketAdvice, endpoint, model };
}

export const bucketAdvice =
  "Batches of Vertex AI go through a bucket of Cloud Storage: set providers: { vertex: { bucket: 'gs://…' } }.";

function matchContent(call: Call): Match {
  const chosen = tierBypass(ownTier(call, tierInHeaders(call)));
  if (chosen !== undefined) return { bypass: chosen };
  const { cachedContent } = call.json;
  if (cachedContent !== undefined && cachedContent !== null) {
    return { bypass: 'Vertex refuses `cachedContent` in batches' };
  }
  return matchGemini(call);
}

/** `dedicated` is throughput that is paid for already; `shared` leaves the tier to the other header. */
function tierInHeaders({ headers }: Pick<Call, 'headers'>): string | undefined {
  const type = headers['x-vertex-ai-llm-request-type']?.toLowerCase();
  const shared = headers['x-vertex-ai-llm-shared-request-type']?.toLowerCase();
  return type === 'dedicated' ? type : shared;
}

function matchClaude(call: Call, location: string | undefined): Match {
  if (location === 'global') {
    return { bypass: 'Vertex has no batches of Claude in the location "global"' };
  }
  // Claude's clients count tokens by a model of that name.
  if (call.path.includes('/models/count-tokens:')) {
    return { bypass: 'counting tokens is free, and has no batches' };
  }
  if (call.headers['anthropic-beta'] !== undefined) {
    return { bypass: 'a row of a batch has no header, so it cannot name `anthropic-beta`' };
  }
  const refused = refusedInBatches(call.json);
  if (refused !== undefined) return { bypass: `${refused} inside a batch` };
  const { stream } = call.json;
  const line = onOneLine(call.body);
  const route: Route = {
    endpoint: '',
    model: '',
    batchHeaders: {},
    identity: call.query === '' ? [] : [call.query],
    body: stream === undefined ? line : withoutMembers(line, streaming),
  };
  return stream === true ? { ...route, stream: anthropicMessages } : route;
}

/** What an endpoint says: where its jobs are, and whose models it has. */
export function placeOf(endpoint: string): { parent: string; publisher: string } {
  const [parent = '', publisher = ''] = endpoint.split('/publishers/');
  return { parent, publisher };
}
