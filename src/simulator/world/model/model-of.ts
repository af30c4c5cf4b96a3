import type { Dialect, Job } from './execute.ts';

/** The model that a request asks. */
export function modelOf(
  { model }: Dialect,
  { endpoint, body }: Pick<Job, 'endpoint' | 'body'>,
): string {
  if (model !== undefined) return model(endpoint);
  return typeof body.model === 'string' ? body.model : '';
}
