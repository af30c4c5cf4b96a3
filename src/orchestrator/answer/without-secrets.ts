import type { Answer } from '../../base/types.ts';
import { redactBody } from '../../http/redact-body.ts';
import type { Wire } from '../../http/wire.ts';

/** Providers like to say which key they refuse, and what callers get is written to the ledger. */
export function withoutSecrets(answer: Answer, { redact }: Pick<Wire, 'redact'>): Answer {
  if (answer.status < 300) return answer;
  const body = redactBody(answer.body, redact);
  if (body === answer.body) return answer;
  const { json: _echoing, ...rest } = answer;
  return { ...rest, body };
}
