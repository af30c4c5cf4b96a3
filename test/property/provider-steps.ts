import type { ScriptedFault, Simulator } from '../../src/simulator/index.ts';
import type { Fault, Step } from './program.ts';

/** What happens at the providers, and not in the program. */
export type ProviderStep = Extract<
  Step,
  { do: 'fault' | 'script' | 'configure' | 'hold' | 'release' }
>;

export interface StruckFault extends Fault {
  readonly struck: ScriptedFault;
}

export function changeProvider(
  simulator: Simulator,
  step: ProviderStep,
): ScriptedFault | undefined {
  switch (step.do) {
    case 'fault': {
      const { method, path, provider } = step.place;
      const { times, skip, action } = step;
      return simulator.faults.add({ method, path, provider, times, skip, action });
    }
    case 'script':
      simulator.faults.nextBatch(step.script);
      break;
    case 'configure':
      simulator.configure(step.change);
      break;
    case 'hold':
      simulator.hold();
      break;
    case 'release':
      simulator.release();
  }
  return undefined;
}

const endless = Number.POSITIVE_INFINITY;

/** Undoes every limit that a program has set. */
export const unlimited = {
  openai: { enqueuedTokens: endless, requestsPerBatch: endless },
  anthropic: { queuedRequests: endless, requestsPerBatch: endless },
};
