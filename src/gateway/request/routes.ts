import { BatchlingError } from '../../base/errors.ts';
import { protocolOf } from '../../base/this-machine.ts';
import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { type RegisteredBatcher, registeredBatchers } from '../../batchers/registry.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { HostEntry } from '../../orchestrator/capture/router.ts';
import { GatewayError } from '../gateway-error.ts';
import type { CleanPath } from './clean-path.ts';

/** A provider that the gateway reaches. */
export interface Place {
  readonly registered: RegisteredBatcher;
  readonly origin: string;
  /** The path of the base that the user has configured; empty: the provider's own paths. */
  readonly base: string;
  /** The user has named its host; there any header `x-…` may be a credential. */
  readonly isConfigured: boolean;
}

/** Where a request goes. */
export interface Route {
  readonly place: Place;
  /** The provider's URL. */
  readonly url: string;
}

/** The providers by their names in the path: `/openai/v1/chat/completions`. */
export class Routes {
  readonly #places = new Map<string, Place>();
  /** Routes that were found. Paths that clients use often are the same objects, see `cleanPath`. */
  readonly #found = new WeakMap<CleanPath, Route>();

  constructor({ hosts, batchers }: Pick<ResolvedOptions, 'hosts' | 'batchers'>) {
    for (const registered of registeredBatchers(batchers)) {
      const place = placeOf(registered, hosts);
      if (place && !this.#places.has(registered.name)) this.#places.set(registered.name, place);
    }
  }

  /** Names of the providers, with the path that an SDK is given as base URL. */
  get bases(): readonly { readonly provider: string; readonly path: string }[] {
    return [...this.#places].map(([provider, { registered }]) => {
      const { roots, sdkAddsRoot } = registered.info;
      return { provider, path: `/${provider}${sdkAddsRoot ? '' : roots[0]}` };
    });
  }

  place(provider: string): Place | undefined {
    return this.#places.get(provider);
  }

  /** The provider's base URL with this path, which its own clients are given; `undefined`: it cannot be reached. */
  baseOf(provider: string, path: string): string | undefined {
    const place = this.#places.get(provider);
    return place && `${place.origin}${withoutVersion(place)}${path}`;
  }

  find(clean: CleanPath): Route {
    const found = this.#found.get(clean) ?? this.#find(clean);
    this.#found.set(clean, found);
    return found;
  }

  #find({ path, query }: CleanPath): Route {
    const [, name = '', rest = ''] = /^\/([^/]*)(\/.*)?$/.exec(path) ?? [];
    const place = this.#places.get(name);
    if (place === undefined) {
      const known = [...this.#places.keys()].join(', ');
      throw new GatewayError('not_found', `No provider is named "${name}". There are: ${known}.`);
    }
    const wanted = pathAt(place, rest);
    const url = new URL(`${wanted}${query}`, place.origin);
    // The path was checked before; this makes sure that no path leaves the provider's host.
    if (url.origin !== place.origin || url.pathname !== wanted) {
      throw new GatewayError('bad_path', 'The path of the request is not plain.');
    }
    credentialsIn(url, place);
    return { place, url: url.href };
  }
}

/** The credentials in a query. Two of one name are refused: the provider may take either. */
export function credentialsIn({ searchParams }: URL, { registered: { info } }: Place): Dict {
  const found = (info.credentialQuery ?? []).filter((name) => searchParams.has(name));
  const doubled = found.find((name) => searchParams.getAll(name).length > 1);
  if (doubled !== undefined) {
    throw new GatewayError('bad_request', `The query holds ${doubled} more than once.`);
  }
  return Object.fromEntries(found.map((name) => [name, searchParams.get(name) ?? '']));
}

/** The same without credentials of the client in its query. */
export function withoutCredentials(route: Route): Route {
  const { place, url: given } = route;
  if (!given.includes('?')) return route;
  const url = new URL(given);
  for (const name of place.registered.info.credentialQuery ?? []) url.searchParams.delete(name);
  return { place, url: url.href };
}

function placeOf(registered: RegisteredBatcher, hosts: readonly HostEntry[]): Place | undefined {
  const [only, another] = hosts.filter(({ provider }) => provider === registered.name);
  if (another) throw twoBases(registered.name);
  if (only) {
    const { host, path } = only;
    return { registered, origin: `${protocolOf(only)}//${host}`, base: path, isConfigured: true };
  }
  const own = registered.info.hosts.find((host) => !host.includes('*'));
  if (own === undefined) return undefined;
  return { registered, origin: `https://${own}`, base: '', isConfigured: false };
}

/** A client's path does not say which base it means, and its key must go to no other. */
function twoBases(provider: string): BatchlingError {
  return new BatchlingError(
    'INVALID_OPTION',
    `Invalid option hosts: it names two bases for ${provider}. A gateway takes one for each provider: start another gateway for the second.`,
    { facts: { option: 'hosts' } },
  );
}

/** The provider's own path, below the base that stands for it. */
function pathAt(place: Place, rest: string): string {
  const { registered, base } = place;
  const { info } = registered;
  if (base === '') return rest;
  const root = info.roots.find((prefix) => rest === prefix || rest.startsWith(`${prefix}/`));
  if (root === undefined) {
    throw new GatewayError('not_found', `The paths of ${info.name} begin with ${listed(info)}.`);
  }
  const prefix = withoutVersion(place);
  const version = info.versions.find((candidate) => root.endsWith(candidate)) ?? '';
  return `${prefix}${version}${rest.slice(root.length)}`;
}

function withoutVersion({ registered, base }: Place): string {
  const last = registered.info.versions.find((version) => base.endsWith(version)) ?? '';
  return base.slice(0, base.length - last.length);
}

function listed({ name, roots }: ProviderInfo): string {
  return roots.map((root) => `/${name}${root}`).join(' or ');
}
