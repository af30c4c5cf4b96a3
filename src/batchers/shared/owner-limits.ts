/**
 * Limits that only the owner of the account can lift: no money is left, or the account is closed. OpenAI
 * names them in `error.code` or `error.type`, Anthropic in `error.details.error_code`.
 */
const ownersOnly = new Set<unknown>([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'enforced_spend_limit_reached',
  'organization_on_hold',
]);

interface ErrorBody {
  readonly error?: {
    readonly code?: unknown;
    readonly type?: unknown;
    readonly details?: { readonly error_code?: unknown } | null;
  } | null;
}

/** Whether waiting is of no use: such a 429 is about money, not about speed. */
export function isOwnersLimit(body: string): boolean {
  const error = (parse(body) as ErrorBody | null | undefined)?.error;
  return [error?.code, error?.type, error?.details?.error_code].some((word) =>
    ownersOnly.has(word),
  );
}

/** The body of an error, or nothing where it is no JSON. */
export function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
