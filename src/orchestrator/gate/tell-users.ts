import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';

/** Tells people something about these requests, once: all scopes get the same object. */
export function tellUsers(
  { logger }: Pick<EngineContext, 'logger'>,
  requests: readonly Request[],
  text: string,
): void {
  logger.info(`batchling: ${text}`);
  const notice = { notice: 'hint', text } as const;
  for (const scope of new Set(requests.map((request) => request.scope))) {
    scope.emit('notice', notice);
  }
}
