import type { BatchingContext } from '../../src/core.ts';
import type { Simulator } from '../../src/simulator/index.ts';
import type { Question, ScopePlan } from './program.ts';

/** How a call ended. */
export type Ending =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly source: string;
      readonly body: string;
    }
  | { readonly kind: 'rejected'; readonly reason: unknown };

/** One call of a program, and everything that was done to it. */
export interface AskedCall extends Question {
  readonly plan: ScopePlan;
  readonly scope: OpenScope;
  readonly controller: AbortController;
  readonly askedAt: number;
  endedAt: number;
  ending: Ending | undefined;
}

/** A scope of a program while it is open, and what was done to it. */
export interface OpenScope {
  readonly context: BatchingContext;
  readonly controller: AbortController;
  cancelled: boolean;
  state: 'open' | 'closing' | 'closed';
}

export function openScope(context: BatchingContext, controller: AbortController): OpenScope {
  return { context, controller, cancelled: false, state: 'open' };
}

export function closeScope(scope: OpenScope): void {
  scope.state = 'closing';
  scope.context.close().then(
    () => {
      scope.state = 'closed';
    },
    // It then stays as it is, and the verdict says so.
    () => undefined,
  );
}

export function askIn(
  scope: OpenScope,
  plan: ScopePlan,
  question: Question,
  { simulator, now }: { readonly simulator: Simulator; now(): number },
): AskedCall {
  const { provider, model, prompt } = question;
  const controller = new AbortController();
  const call: AskedCall = {
    ...{ provider, model, prompt, plan, scope, controller },
    askedAt: now(),
    endedAt: Number.POSITIVE_INFINITY,
    ending: undefined,
  };
  const messages = [{ role: 'user', content: prompt }];
  const base = simulator.baseUrl(provider);
  const [url, headers, body] =
    provider === 'openai'
      ? [`${base}/chat/completions`, { authorization: 'Bearer sk-test-key' }, { model, messages }]
      : [
          `${base}/v1/messages`,
          { 'x-api-key': 'sk-ant-test-key', 'anthropic-version': '2023-06-01' },
          { model, max_tokens: 64, messages },
        ];
  const asked = scope.context.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: controller.signal,
  });
  asked
    .then(readEnding)
    .catch((reason: unknown): Ending => ({ kind: 'rejected', reason }))
    .then((ending) => {
      call.ending = ending;
      call.endedAt = now();
    })
    .catch(() => undefined);
  return call;
}

async function readEnding(response: Response): Promise<Ending> {
  const source = response.headers.get('x-batchling-source') ?? 'plain';
  return { kind: 'response', status: response.status, source, body: await response.text() };
}
