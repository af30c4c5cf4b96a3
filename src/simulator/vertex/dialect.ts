import { batchDialect, realtimeDialect } from '../anthropic/dialect.ts';
import { geminiDialect } from '../google/dialect.ts';
import type { JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import type { Dialect } from '../world/model/execute.ts';
import type { Publisher } from './details.ts';
import { vertexTiers } from './tiers.ts';

export function dialectOf(publisher: Publisher, mode: 'batch' | 'realtime'): Dialect {
  return publisher === 'anthropic' ? claudeDialect(mode) : geminiOnVertex(mode);
}

/** Gemini as everywhere, except that batches know no cached content. */
function geminiOnVertex(mode: 'batch' | 'realtime'): Dialect {
  const gemini = geminiDialect('vertex');
  return {
    ...gemini,
    tiers: vertexTiers,
    unknownModel: (model) => refused(404, unknownModel(model)),
    check: (endpoint, body) => {
      if (mode === 'batch' && body.cachedContent !== undefined) {
        return refused(400, 'The model does not support cached content with batch prediction.');
      }
      return checkLabels(body.labels) ?? gemini.check(endpoint, body);
    },
  };
}

export function unknownModel(model: string): string {
  return `Publisher Model \`${model}\` was not found or your project does not have access to it.`;
}

/** Labels are for bills: few letters, and not too many. */
function checkLabels(labels: unknown): Outcome | null {
  if (labels === undefined) return null;
  const isGood = (text: unknown) => typeof text === 'string' && /^[a-z0-9_-]{0,63}$/.test(text);
  const entries = Object.entries(labels as object);
  const isFine = entries.length <= 64 && entries.every((pair) => pair.every(isGood));
  return isFine ? null : refused(400, 'Invalid label: use [a-z0-9_-], at most 63 characters.');
}

/** Claude's own dialect; the model stands in the path and the version in the body. */
function claudeDialect(mode: 'batch' | 'realtime'): Dialect {
  const own = ({ anthropic_version: version }: JsonObject) => {
    const bare = String(version ?? '').replace(/^vertex-/, '');
    return mode === 'batch'
      ? batchDialect({ version: bare, userProfile: undefined })
      : realtimeDialect(bare);
  };
  const whole = (endpoint: string, body: JsonObject) => ({ ...body, model: modelIn(endpoint) });
  return {
    ...own({}),
    provider: 'vertex',
    model: modelIn,
    unknownModel: (model) => refused(404, unknownModel(model)),
    check: (endpoint, body) =>
      checkClaude(body) ?? own(body).check(endpoint, whole(endpoint, body)),
    answer: (endpoint, body, content, n) =>
      own(body).answer(endpoint, whole(endpoint, body), content, n),
  };
}

function checkClaude({ anthropic_version: version, model }: JsonObject): Outcome | null {
  if (typeof version !== 'string') return refused(400, 'anthropic_version: Field required');
  return model === undefined ? null : refused(400, 'model: Extra inputs are not permitted');
}

function modelIn(endpoint: string): string {
  return /\/models\/([^/]+):\w+$/.exec(endpoint)?.[1] ?? '';
}

function refused(status: number, message: string): Outcome {
  return { kind: 'refused', status, message };
}
