import { protocolOf } from '../../base/this-machine.ts';
import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { usageError } from '../usage-error.ts';

/** One small call, as an SDK would make it. */
export interface Sample {
  readonly base: string;
  readonly path: string;
  readonly headers: Dict;
  readonly body: string;
  readonly model: string;
}

export function sampleFor(
  info: ProviderInfo,
  given: { readonly model?: string; readonly base?: string },
  configured: ResolvedOptions['hosts'] = [],
): Sample {
  const { name, hosts, sampleCall, sampleModels = {} } = info;
  if (!sampleCall) {
    throw usageError(
      `--live cannot try ${name}: its batches need settings of yours. Run a small program in batch mode instead`,
    );
  }
  const model = given.model ?? sampleModels[hosts[0] ?? ''];
  if (model === undefined) throw usageError(`--live ${name} needs a model: --model <name>`);
  const { path, headers = {}, body } = sampleCall(model);
  const base = baseFor(info, given.base ?? configuredBase(info, configured));
  return { base, model, path, headers, body: JSON.stringify(body) };
}

/** The base that the option `hosts` names: the key in use is meant for that server. */
function configuredBase(
  { name, roots }: ProviderInfo,
  configured: ResolvedOptions['hosts'],
): string | undefined {
  const [entry, another] = configured.filter(({ provider }) => provider === name);
  if (entry === undefined) return undefined;
  if (another) throw usageError(`hosts names two bases for ${name}. Say which: --base <url>`);
  return `${protocolOf(entry)}//${entry.host}${entry.path || (roots[0] ?? '')}`;
}

/** Where its batch traffic goes. */
function baseFor(
  { name, hosts, roots, versions }: ProviderInfo,
  given: string | undefined,
): string {
  const [host = '*'] = hosts;
  if (given === undefined) {
    if (host.includes('*')) throw usageError(`--live ${name} needs the base URL: --base <url>`);
    return `https://${host}${roots[0] ?? ''}`;
  }
  if (!URL.canParse(given)) throw usageError('--base must be a URL, such as https://host/v1');
  const base = given.replace(/\/+$/, '');
  const hasVersion = versions.some((version) => base.endsWith(version));
  return hasVersion ? base : `${base}${versions[0] ?? ''}`;
}
