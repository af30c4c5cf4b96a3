import { BatchlingError } from '../base/errors.ts';
import { protocolOf } from '../base/this-machine.ts';
import type { Dict } from '../base/types.ts';
import { ownCredentials } from '../batchers/own-credentials.ts';
import type { ProviderInfo } from '../batchers/provider-info.ts';
import { type RegisteredBatcher, registeredBatchers } from '../batchers/registry.ts';
import type { Environment } from '../options/form.ts';
import type { ResolvedOptions } from '../options/index.ts';
import { Router, type Target } from '../orchestrator/capture/router.ts';

/** The one provider that the lines of a job go to, with the key of its usual variable. */
export class Destination {
  readonly provider: string;
  readonly headers: Dict;
  /** The base URL: everything before the path of a request. */
  readonly base: string;
  readonly #registered: RegisteredBatcher;
  readonly #router: Router;

  constructor(options: ResolvedOptions, provider: string, environment: Environment) {
    const batchers = registeredBatchers(options.batchers);
    const registered = batchers.find(({ name }) => name === provider);
    if (registered === undefined) throw wrong(`No provider is named "${provider}".`);
    this.provider = provider;
    this.#registered = registered;
    const { info } = registered;
    this.base = baseOf(info, options);
    this.headers = { ...keyOf(info, options, environment), ...info.sampleCall?.('').headers };
    this.#router = new Router(batchers, options.hosts);
  }

  get info(): ProviderInfo {
    return this.#registered.info;
  }

  async load(): Promise<void> {
    await this.#registered.load();
  }

  /** `undefined`: the provider has no batches at this path. */
  target(path: string): Target | undefined {
    // Lines that follow each other nearly always have the same path.
    if (path === this.#last?.path) return this.#last.target;
    const target = this.#find(path);
    this.#last = { path, target };
    return target;
  }

  #last: { readonly path: string; readonly target: Target | undefined } | undefined;

  #find(path: string): Target | undefined {
    const target = this.#router.find(`${this.base}${path}`);
    return target?.provider === this.provider ? target : undefined;
  }
}

function baseOf(info: ProviderInfo, { hosts }: ResolvedOptions): string {
  const [root = ''] = info.roots;
  const entry = hosts.find(({ provider }) => provider === info.name);
  if (entry) {
    const { host, path } = entry;
    const hasRoot = info.versions.some((version) => path.endsWith(version));
    const addsRoot = path === '' || (info.sdkAddsRoot === true && !hasRoot);
    return `${protocolOf(entry)}//${host}${path}${addsRoot ? root : ''}`;
  }
  const own = info.hosts.find((host) => !host.includes('*'));
  if (own !== undefined) return `https://${own}${root}`;
  throw wrong(
    `${info.name} has no base URL that is the same for everybody: name yours, --to https://…`,
  );
}

/** A function for rotating tokens needs no variable, and a dry run needs no key. */
function keyOf(
  info: ProviderInfo,
  { providers, dryRun }: ResolvedOptions,
  environment: Environment,
): Dict {
  const headers = ownCredentials(info, environment);
  if (headers !== undefined) return headers;
  if (dryRun || providers[info.name]?.credential !== undefined) return {};
  const [variable = ''] = info.environment;
  throw wrong(
    variable === ''
      ? `There is no key for ${info.name}: give a function, providers: { ${info.name}: { credential } } in the config file.`
      : `There is no key for ${info.name}: set ${variable}.`,
  );
}

function wrong(message: string): BatchlingError {
  return new BatchlingError('INVALID_OPTION', message);
}
