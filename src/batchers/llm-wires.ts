import type { ProviderInfo, WirePaths } from './provider-info.ts';
import { builtInInfos } from './registry.ts';
import { wildcardSource, wildcards } from './wildcards.ts';

/** A kind of LLM call that several services understand, known by its URL. */
export interface LlmWire {
  /** How people call it. */
  readonly name: string;
  /** The built-in batcher that speaks it, and the base URL that its SDK would have been given. */
  readonly capturable?: { readonly provider: string; readonly base: RegExp };
  readonly path: RegExp;
  /** Spoken at this host only: the path says little. */
  readonly host?: RegExp;
  readonly isMeant?: WirePaths['isMeant'];
  /** The path is a common word, even at the host of an LLM provider. */
  readonly isCommonWord: boolean;
  /** The built-in provider whose errors its clients understand best. */
  readonly speaker: string;
}

/** Wires of services without a batcher. */
const unbatchedWires: readonly (WirePaths & { readonly host: RegExp })[] = [
  {
    title: 'Cohere',
    host: /^api\.cohere\.(com|ai)$/,
    before: String.raw`/v\d/`,
    endings: ['chat', 'embed', 'generate'],
  },
];

/** A provider that copies another one's facts has the same paths: they stand for the one that came first. */
const owners = new Map<WirePaths, ProviderInfo>();
for (const info of builtInInfos) {
  for (const paths of info.wires ?? []) if (!owners.has(paths)) owners.set(paths, info);
}

const wires: readonly LlmWire[] = [
  ...[...owners].map(([paths, info]) => wireOfProvider(info, paths)),
  // The errors of the first provider are those that most clients know.
  ...unbatchedWires.map((paths) => ({
    ...wireFrom(paths, builtInInfos[0]?.name ?? ''),
    host: paths.host,
  })),
];

/** The last words of all these paths. A path that ends in none of them is not looked at. */
export const wireEndings: readonly string[] = [...owners.keys(), ...unbatchedWires].flatMap(
  ({ endings }) => endings,
);

export function wireOf({ host, pathname }: URL): LlmWire | undefined {
  return wires.find((wire) => wire.path.test(pathname) && (wire.host?.test(host) ?? true));
}

function wireOfProvider(info: ProviderInfo, paths: WirePaths): LlmWire {
  const wire = wireFrom(paths, info.name);
  if (paths.isUnbatched) return wire;
  return { ...wire, capturable: { provider: info.name, base: baseBefore(info) } };
}

function wireFrom(paths: WirePaths, speaker: string): LlmWire {
  const { title, before, endings, isMeant, isCommonWord = false } = paths;
  const path = new RegExp(`${before}(?:${endings.join('|')})$`);
  return { name: title, path, speaker, isCommonWord, ...(isMeant && { isMeant }) };
}

/** Finds what stands before an endpoint, without the root where SDKs add it themselves. */
function baseBefore({ endpoints, versions, sdkAddsRoot }: ProviderInfo): RegExp {
  const root = sdkAddsRoot ? `(?:${versions.join('|')})?` : '';
  const paths = endpoints.map((endpoint) => wildcardSource(endpoint, '/'));
  return new RegExp(`^(.*?)${root}(?:${paths.join('|')})$`);
}

const heldOpen =
  'its batch chat is one call that stays open for hours, without an id: an answer whose connection breaks is lost, and perhaps paid for';

/** Why there are no batches for a service here, where there is more to say than that it has none. */
export const whyUnbatched: Readonly<Record<string, string>> = {
  Cohere:
    'its batches take less than its calls do (no `response_format`, `documents` or `safety_mode`, content of another shape) and answer in Avro files, so that a caller would not get the response that it would have had',
  'Volcengine Ark': heldOpen,
  'BytePlus ModelArk': heldOpen,
  cerebras: 'its batches are a private preview',
};

/** Providers by hosts that no built-in batcher names, so that a `hosts` entry would not help. */
const others: readonly (readonly [name: string, host: string])[] = [
  ...builtInInfos.flatMap(({ name, unbatchedHosts = [] }) =>
    unbatchedHosts.map((host) => [name, host] as const),
  ),
  ['deepseek', 'api.deepseek.com'],
  ['cerebras', 'api.cerebras.ai'],
  ['Volcengine Ark', 'ark.cn-beijing.volces.com'],
  ['BytePlus ModelArk', 'ark.ap-southeast.bytepluses.com'],
];

/** What people are told of a service that is not batched. */
export function noBatchesFor(name: string): string {
  const reason = `this version of batchling has no batches for ${name}`;
  const why = whyUnbatched[name];
  return why === undefined ? reason : `${reason}: ${why}`;
}

/** The name of a provider by such a host. */
export function otherProvider(host: string): string | undefined {
  return others.find(([, known]) => wildcards([known], '.')(host))?.[0];
}
