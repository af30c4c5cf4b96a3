import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { isSecretive } from '../../orchestrator/capture/credentials.ts';

/** Headers that never change an answer. */
const noise =
  /^(accept(-.*)?|user-agent|content-length|date|origin|referer|via|forwarded|traceparent|tracestate|baggage|idempotency-key|sec-.*|x-stainless-.*|x-forwarded-.*|x-request-id)$/;

/** Headers of a call that may change its answer and are no secret: they may stand in an id. */
export function keptHeaders(headers: Dict, info: ProviderInfo): Dict {
  const kept = Object.entries(headers).filter(
    ([name]) => !noise.test(name) && !isSecret(name, info),
  );
  return Object.fromEntries(kept);
}

/** The others that may change it: whoever asks for the answer has to bring them. */
export function secretHeaders(headers: Dict, info: ProviderInfo): Dict {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isSecret(name, info)));
}

function isSecret(name: string, { credentialHeaders, accountHeaders }: ProviderInfo): boolean {
  return isSecretive(name) || credentialHeaders.includes(name) || accountHeaders.includes(name);
}
