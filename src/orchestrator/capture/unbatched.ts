import { invariant } from '../../base/errors.ts';
import type { Dict } from '../../base/types.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import {
  type LlmWire,
  noBatchesFor,
  otherProvider,
  wireEndings,
  wireOf,
} from '../../batchers/llm-wires.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import type { RegisteredBatcher } from '../../batchers/registry.ts';
import { wildcards } from '../../batchers/wildcards.ts';
import { outlineOfObject } from './outline-of-object.ts';
import type { Router } from './router.ts';

/** An LLM call that no batcher takes: why, what helps, and what it is told once for. */
export class Unbatched {
  readonly reason: string;
  readonly cure: string;
  /** People are told once for each topic. */
  readonly topic: string;
  readonly #registered: RegisteredBatcher;
  readonly #isMeant: LlmWire['isMeant'];
  #isProved: boolean;

  constructor(facts: UnbatchedFacts, isMeant?: LlmWire['isMeant']) {
    this.reason = facts.reason;
    this.cure = facts.cure;
    this.topic = facts.topic;
    this.#registered = facts.registered;
    this.#isMeant = isMeant;
    this.#isProved = isMeant === undefined;
  }

  /** The URL alone says that it is an LLM call. */
  get isCertain(): boolean {
    return this.#isMeant === undefined;
  }

  /** Whether it is an LLM call indeed, or one before it was; `body` is a text, or the beginning of one. */
  isProvedBy(headers: Dict, body: string | undefined): boolean {
    if (this.#isProved) return true;
    const json = body === undefined ? undefined : outlineOfObject(body);
    this.#isProved = json !== undefined && this.#isMeant?.(headers, json) === true;
    return this.#isProved;
  }

  load(): Promise<Batcher> {
    return this.#registered.load();
  }
}

interface UnbatchedFacts {
  readonly reason: string;
  readonly cure: string;
  readonly topic: string;
  /** The provider whose errors its client understands best. */
  readonly registered: RegisteredBatcher;
}

/** Callers of a gateway have the header alone. */
export const realtimeCure =
  'Wrap it in realtime(), or give it the header x-batchling: off, to say that this is meant.';
const rememberedUrls = 1_000;

/** Finds LLM calls among the requests that no batcher takes; all others cost a look at their last word. */
export class UnbatchedFinder {
  readonly #router: Router;
  readonly #batchers: readonly RegisteredBatcher[];
  readonly #endings: ReadonlySet<string>;
  /** Outlines of the endings: a look at three things of a word is cheaper than cutting it out. */
  readonly #outlines: ReadonlySet<number>;
  readonly #found = new Map<string, Unbatched | undefined>();

  constructor(router: Router, batchers: readonly RegisteredBatcher[]) {
    this.#router = router;
    this.#batchers = batchers;
    const unbatched = batchers.flatMap(({ info }) => info.unbatched ?? []);
    const words = unbatched.map((path) => path.slice(startOfWord(path, path.length)));
    this.#endings = new Set([...wireEndings, ...words]);
    this.#outlines = new Set([...this.#endings].map((word) => outlineOf(word, 0, word.length)));
  }

  /** Called for every POST in a scope. */
  find(url: string): Unbatched | undefined {
    const end = endOfPath(url);
    const start = startOfWord(url, end);
    if (!this.#outlines.has(outlineOf(url, start, end))) return undefined;
    if (!this.#endings.has(url.slice(start, end))) return undefined;
    if (this.#found.has(url)) return this.#found.get(url);
    const unbatched = URL.canParse(url) ? this.#look(new URL(url)) : undefined;
    if (this.#found.size >= rememberedUrls) this.#found.clear();
    this.#found.set(url, unbatched);
    return unbatched;
  }

  #look(url: URL): Unbatched | undefined {
    const endpoint = this.#router.unbatchedEndpoint(url);
    if (endpoint) return endpointOf(endpoint.registered, endpoint.path);
    const wire = wireOf(url);
    if (wire === undefined) return undefined;
    const { capturable } = wire;
    const registered = this.#named(wire.speaker);
    const own = this.#ownerOf(url.hostname);
    if (own) return endpointOf(own, url.pathname);
    const other = otherProvider(url.hostname);
    if (other !== undefined || capturable === undefined) {
      const reason = noBatchesFor(other ?? wire.name);
      const topic = `${url.host} ${wire.name}`;
      // At a provider's own host a path is seldom anything else.
      const isMeant = other !== undefined && !wire.isCommonWord ? undefined : wire.isMeant;
      return new Unbatched({ reason, cure: realtimeCure, topic, registered }, isMeant);
    }
    const { provider } = capturable;
    const base = baseOf(url, capturable.base, this.#named(provider).info);
    const reason = 'no option names its host';
    const cure =
      `If it has a batch API like that of ${provider}, batch it with the option ` +
      `hosts: { '${base}': '${provider}' }; otherwise wrap it in realtime() to say that this is meant.`;
    return new Unbatched(
      { reason, cure, topic: `${url.host} ${provider}`, registered },
      wire.isMeant,
    );
  }

  /** The provider that this host belongs to, whatever the path. */
  #ownerOf(host: string): RegisteredBatcher | undefined {
    const other = otherProvider(host);
    return this.#batchers.find(
      ({ name, info }) => name === other || wildcards(info.hosts, '.')(host),
    );
  }

  #named(provider: string): RegisteredBatcher {
    const registered = this.#batchers.find(({ name }) => name === provider);
    invariant(registered, `There is no batcher for ${provider}`);
    return registered;
  }
}

function endpointOf(registered: RegisteredBatcher, path: string): Unbatched {
  const { name, info } = registered;
  const reason =
    reasonOf(info, path) ?? `batchling has no batches for the endpoint ${path} of ${name}`;
  return new Unbatched({ reason, cure: realtimeCure, topic: reason, registered });
}

/** What the provider's facts say of this path, which may be one of many that a pattern stands for. */
function reasonOf({ unbatchedBecause = {} }: ProviderInfo, path: string): string | undefined {
  const patterns = Object.entries(unbatchedBecause);
  return patterns.find(([pattern]) => wildcards([pattern], '/')(path))?.[1];
}

/**
 * The base as its SDK is given it. A key without a path stands for the provider's own paths, which mostly are below
 * `/v1`.
 */
function baseOf({ origin, pathname }: URL, base: RegExp, { roots }: ProviderInfo): string {
  const path = base.exec(pathname)?.[1] ?? '';
  const isOwnPath = roots.includes('') || /^\/v1(beta1?)?\//.test(pathname);
  return path === '' && !isOwnPath ? `${origin}/v1` : `${origin}${path}`;
}

/** Where the last word of the path begins: `completions` of `…/chat/completions`, or after a colon. */
function startOfWord(url: string, end: number): number {
  let start = end;
  while (start > 0 && !isSeparator(url.charCodeAt(start - 1))) start -= 1;
  return start;
}

function endOfPath(url: string): number {
  const query = url.indexOf('?');
  const fragment = url.indexOf('#');
  if (query < 0) return fragment < 0 ? url.length : fragment;
  return fragment < 0 ? query : Math.min(query, fragment);
}

/** A slash or a colon. */
function isSeparator(code: number): boolean {
  return code === 47 || code === 58;
}

/** Length, first and last letter of a word in one number, which few words share. */
function outlineOf(text: string, start: number, end: number): number {
  return ((end - start) << 16) | (text.charCodeAt(start) << 8) | text.charCodeAt(end - 1);
}
