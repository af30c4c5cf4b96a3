import { sharedState } from '../state.ts';

/** Remembers that a request of node:http is answered by us and never leaves. */
export function markCaptured(request: object): void {
  sharedState().capturedRequests.add(request);
}

export function isCapturedRequest(request: object): boolean {
  return sharedState().capturedRequests.has(request);
}
