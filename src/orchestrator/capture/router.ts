import { invariant } from '../../base/errors.ts';
import type { Dict } from '../../base/types.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import type { RegisteredBatcher } from '../../batchers/registry.ts';
import { wildcards } from '../../batchers/wildcards.ts';
import { onlyThese, splitQuery } from './split-query.ts';

/** One entry of the `hosts` option, taken apart. */
export interface HostEntry {
  /** The key as configured. */
  readonly key: string;
  readonly provider: string;
  /** `undefined`: both. */
  readonly protocol: 'http:' | 'https:' | undefined;
  readonly host: string;
  /** Empty: the key stands for the provider's own host. */
  readonly path: string;
}

/** Where a captured call belongs. One for each URL, so that waiting calls share what it says. */
export class Target {
  readonly url: string;
  /** The query with its question mark, or an empty text; without credentials. */
  readonly query: string;
  /** Credentials that stand in the query. */
  readonly credentials: Dict;
  /** Identity of the service: its own host, or the `hosts` key as configured. */
  readonly base: string;
  /**
   * Where the batch traffic goes: everything of the call's URL before its endpoint, and what of its query
   * goes along with every request.
   */
  readonly wireBase: string;
  /** The path below `wireBase`: `/chat/completions`. */
  readonly path: string;
  /** The service was named by the user's `hosts` option. */
  readonly configured: boolean;
  readonly #registered: RegisteredBatcher;

  constructor(url: string, place: Place, root: string, path: string) {
    this.url = url;
    const { credentialQuery = [], baseQuery = [] } = place.registered.info;
    const { rest, secrets } = splitQuery(
      url.includes('?') ? new URL(url).search : '',
      credentialQuery,
    );
    this.query = rest;
    this.credentials = secrets;
    this.base = place.base;
    this.wireBase = `${root}${onlyThese(rest, baseQuery)}`;
    this.path = path;
    this.configured = place.configured;
    this.#registered = place.registered;
  }

  get provider(): string {
    return this.#registered.name;
  }

  get isLoaded(): boolean {
    return this.#registered.batcher !== undefined;
  }

  load(): Promise<Batcher> {
    return this.#registered.load();
  }

  get batcher(): Batcher {
    const { batcher } = this.#registered;
    invariant(batcher, 'A batcher was used before it was loaded');
    return batcher;
  }
}

interface Place {
  readonly registered: RegisteredBatcher;
  readonly base: string;
  /** The path before the version segment. */
  readonly prefix: string;
  readonly versions: readonly string[];
  readonly configured: boolean;
  /** `undefined`: both, which only a `hosts` key without a scheme may ask for. */
  readonly protocol: 'https:' | 'http:' | undefined;
}

type HostPattern = readonly [matches: (host: string) => boolean, registered: RegisteredBatcher];

const rememberedUrls = 1_000;

/**
 * Answers "is this mine?" for every request made inside a scope, so it starts with a look-up of the
 * host in the text of the URL; parsing a URL costs more than everything else here.
 */
export class Router {
  readonly #places = new Map<string, Place[]>();
  /** Providers whose hosts cannot be listed. A host that fits gets its places when it is met first. */
  readonly #patterns: HostPattern[] = [];
  readonly #found = new Map<string, Target | undefined>();
  /** Hosts that nobody knows, as they stand in URLs. */
  readonly #strangers = new Set<string>();

  constructor(batchers: readonly RegisteredBatcher[], hosts: readonly HostEntry[]) {
    for (const registered of batchers) {
      const { hosts: own } = registered.info;
      for (const host of own.filter((name) => !name.includes('*'))) {
        this.#add(host, ownPlaces(registered, host, 'https:'));
      }
      const patterns = own.filter((name) => name.includes('*'));
      if (patterns.length > 0) this.#patterns.push([wildcards(patterns, '.'), registered]);
    }
    for (const entry of hosts) {
      const registered = batchers.find(({ name }) => name === entry.provider);
      invariant(registered, `hosts names ${entry.provider}, which nobody knows`);
      this.#add(entry.host, configuredPlaces(registered, entry));
    }
    for (const host of this.#places.keys()) this.#addPatterns(host);
  }

  /** What the user configured beats a provider's own place; the longest prefix is the most exact. */
  #add(host: string, added: readonly Place[]): void {
    const places = [...(this.#places.get(host) ?? []), ...added];
    places.sort(
      (a, b) => Number(b.configured) - Number(a.configured) || b.prefix.length - a.prefix.length,
    );
    this.#places.set(host, places);
  }

  #addPatterns(host: string): void {
    for (const [matches, registered] of this.#patterns) {
      if (matches(host)) this.#add(host, ownPlaces(registered, host, 'https:'));
    }
  }

  #knows(host: string): boolean {
    if (!this.#places.has(host)) this.#addPatterns(host);
    return this.#places.has(host);
  }

  /**
   * The batcher that handles this URL, if any. Programs use few URLs many times, so what was found
   * once is remembered.
   */
  find(url: string): Target | undefined {
    if (!this.knowsHost(url)) return undefined;
    const known = this.#found.get(url);
    if (known !== undefined || this.#found.has(url)) return known;
    const target = URL.canParse(url) ? this.#locate(url) : undefined;
    if (this.#found.size >= rememberedUrls) this.#found.clear();
    this.#found.set(url, target);
    return target;
  }

  /** A look at the text: false costs next to nothing, and a host that was seen before even less. */
  knowsHost(url: string): boolean {
    const start = url.indexOf('://') + 3;
    if (start === 2) return false;
    let end = start;
    while (end < url.length && !isEndOfAuthority(url.charCodeAt(end))) end += 1;
    const authority = url.slice(start, end);
    if (this.#places.has(authority)) return true;
    if (this.#strangers.has(authority)) return false;
    // What it means depends on the rest of the URL.
    if (isUnusual(authority)) return URL.canParse(url) && this.#knows(new URL(url).host);
    if (this.#knows(authority)) return true;
    if (this.#strangers.size >= rememberedUrls) this.#strangers.clear();
    this.#strangers.add(authority);
    return false;
  }

  /** Two providers may live at one host. */
  #locate(url: string): Target | undefined {
    const parsed = new URL(url);
    for (const place of this.#placesOf(parsed)) {
      const found = findIn(place, parsed, place.registered.handles);
      if (found) return new Target(url, place, `${parsed.origin}${found.root}`, found.path);
    }
    return undefined;
  }

  /** The endpoint of a known provider that is not batched, if this URL is one. */
  unbatchedEndpoint(url: URL): { registered: RegisteredBatcher; path: string } | undefined {
    if (!this.#knows(url.host)) return undefined;
    for (const { registered, ...place } of this.#placesOf(url)) {
      const found = findIn(place, url, registered.leavesOut);
      if (found) return { registered, path: found.path };
    }
    return undefined;
  }

  #placesOf({ host, protocol }: URL): Place[] {
    const places = this.#places.get(host) ?? [];
    return places.filter((place) => place.protocol === undefined || place.protocol === protocol);
  }
}

/** A path below a place that is the one looked for, apart from its root. */
function findIn(
  { prefix, versions }: Pick<Place, 'prefix' | 'versions'>,
  { pathname }: URL,
  isWanted: (path: string) => boolean,
): { root: string; path: string } | undefined {
  if (!pathname.startsWith(prefix)) return undefined;
  const rest = pathname.slice(prefix.length);
  for (const version of versions) {
    if (!rest.startsWith(`${version}/`)) continue;
    const path = rest.slice(version.length);
    if (isWanted(path)) return { root: `${prefix}${version}`, path };
  }
  return undefined;
}

function ownPlaces(
  registered: RegisteredBatcher,
  base: string,
  protocol: Place['protocol'],
  configured = false,
): Place[] {
  return registered.info.roots.map((prefix) => ({
    registered,
    base,
    prefix,
    versions: [''],
    configured,
    protocol,
  }));
}

function configuredPlaces(registered: RegisteredBatcher, entry: HostEntry): Place[] {
  const { key, path, protocol } = entry;
  if (path === '') return ownPlaces(registered, key, protocol, true);
  const { versions } = registered.info;
  const version = versions.find((candidate) => path.endsWith(candidate));
  const prefix = version === undefined ? path : path.slice(0, -version.length);
  const place = { registered, base: key, prefix, versions: [...versions, ''], protocol };
  return [{ ...place, configured: true }];
}

function isEndOfAuthority(code: number): boolean {
  return code === 47 || code === 63 || code === 35 || code === 92;
}

/** Upper case, user info, a default port or escapes: what `URL` would write differently. */
function isUnusual(authority: string): boolean {
  return /[^a-z0-9.:\-[\]]|:443$|:80$/.test(authority);
}
