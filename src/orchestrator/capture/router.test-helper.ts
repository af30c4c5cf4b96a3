import { type BatcherClass, registeredBatchers } from '../../batchers/registry.ts';
import { resolveOptions } from '../../options/index.ts';
import { Router } from './router.ts';

export function routerFor(
  hosts: Record<string, string> = {},
  batchers: BatcherClass[] = [],
): Router {
  const options = resolveOptions({ hosts, batchers }, undefined, {});
  return new Router(registeredBatchers(options.batchers), options.hosts);
}

/** Where the router finds this URL. */
export function locate(router: Router, url: string) {
  const found = router.find(url);
  if (found === undefined) return undefined;
  const { provider, base, wireBase, path, configured } = found;
  return { provider, base, wireBase, path, configured };
}
