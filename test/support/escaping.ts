import type { BatchingContext, BatchlingEvents } from '../../src/index.ts';

/** What a scope tells of calls that were not batched. */
export function bypassesOf(scope: BatchingContext): BatchlingEvents['call:bypassed'][] {
  const bypasses: BatchlingEvents['call:bypassed'][] = [];
  scope.on('call:bypassed', (event) => bypasses.push(event));
  return bypasses;
}

/** Our warnings, from now on. */
export function collectWarnings(): { readonly warnings: string[]; stop(): void } {
  const warnings: string[] = [];
  const listener = ({ name, message }: Error) => {
    if (name === 'BatchlingWarning') warnings.push(message);
  };
  process.on('warning', listener);
  return { warnings, stop: () => process.off('warning', listener) };
}
