const captured = new WeakSet<object>();

/** Remembers that a request of node:http is answered by us and never leaves. */
export function markCaptured(request: object): void {
  captured.add(request);
}

export function isCapturedRequest(request: object): boolean {
  return captured.has(request);
}
