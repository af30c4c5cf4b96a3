/**
 * Node holds the controller of a cloned `Request` by a weak reference only, so that the clone hears of
 * an abort until garbage is collected. Some clients send clones; when that happens is not theirs, nor
 * ours. Until the returned function is called, every controller is kept.
 */
export function keepControllers(): () => void {
  const original = globalThis.AbortController;
  const kept: object[] = [];
  globalThis.AbortController = new Proxy(original, {
    construct(target, parameters: []) {
      const controller = Reflect.construct(target, parameters);
      kept.push(controller);
      return controller;
    },
  });
  return () => {
    globalThis.AbortController = original;
    kept.length = 0;
  };
}
