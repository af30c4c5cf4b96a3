import { configFile } from '../options/config/config-file.ts';
import { type BatchifyOptions, type ResolvedOptions, resolveOptions } from '../options/index.ts';
import type { ProviderName } from '../options/provider-names.ts';

/** What a job does about its first line of each kind where nobody says otherwise. */
export const canaryOfJobs = 'call';

/** The options of a job. Unlike a scope it has a canary, unless somebody has said otherwise: nobody sees its first answers. */
export function jobOptions(
  given: BatchifyOptions,
  { base, provider }: { readonly base: string | undefined; readonly provider: string },
): ResolvedOptions {
  const isCanarySet =
    given.canary !== undefined ||
    (process.env.BATCHLING_CANARY ?? '').trim() !== '' ||
    configFile()?.options.canary !== undefined;
  return resolveOptions({
    ...given,
    ...(!isCanarySet && { canary: canaryOfJobs }),
    ...(base !== undefined && { hosts: { [base]: provider as ProviderName } }),
  });
}
