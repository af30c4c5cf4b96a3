import { batchify } from '../../src/core.ts';
import type { Stage } from '../support/stage.ts';
import { askIn, openScope } from './asked-call.ts';
import type { Provider, ScopePlan } from './program.ts';

/** Loads every module that a program may need: loading takes real time, which no step waits for. */
export async function warmUp(
  stage: Stage,
  plans: readonly ScopePlan[] = [{ minBatch: 1 }, { minBatch: 2 }],
): Promise<void> {
  const { simulator } = stage;
  const providers: Provider[] = ['openai', 'anthropic'];
  for (const plan of plans) {
    const context = batchify(stage.options(plan));
    const scope = openScope(context, new AbortController());
    for (const provider of providers) {
      askIn(
        scope,
        {},
        { provider, model: 'warm', prompt: 'warm up' },
        { simulator, now: Date.now },
      );
    }
    await context.close();
  }
  // A scope that its signal ends loads what it says about that.
  await import('../../src/report/text/end-note.ts');
}
