import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../base/errors.ts';
import type { Dict } from '../base/types.ts';
import { resolveOptions } from '../options/index.ts';
import type { Engine } from '../orchestrator/engine.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import { type EngineUse, leaveEngines, useEngine } from '../scope/engine/engines.ts';
import { processCalls } from '../scope/process-calls.ts';
import { checkToken, takeOffRoot } from './admission/access.ts';
import { BodyRoom } from './admission/body-room.ts';
import { guardConnections } from './admission/connections.ts';
import { ClientCount, type GatewayLimits, usualLimits } from './admission/gateway-limits.ts';
import { type AcceptedHost, assertOwnSite } from './admission/own-site.ts';
import { AsyncRequests } from './async-requests.ts';
import { CallHandler } from './call-handler.ts';
import type { GatewayContext } from './gateway-context.ts';
import { GatewayError } from './gateway-error.ts';
import { GatewayPage } from './gateway-page.ts';
import { GatewayScopes } from './gateway-scopes.ts';
import { WebhookHandler, webhooksRoot } from './hints/webhook-handler.ts';
import { googleWebhook, withWebhooks } from './hints/with-webhooks.ts';
import { listen, urlOf } from './listen.ts';
import { LostCalls } from './lost-calls.ts';
import { metrics } from './metrics.ts';
import { PassThrough } from './pass-through/pass-through.ts';
import { PassedCosts } from './pass-through/passed-costs.ts';
import { cleanPath } from './request/clean-path.ts';
import { Routes } from './request/routes.ts';
import { RequestHandler } from './request-handler.ts';
import { sendAnswer } from './send-answer.ts';
import { Heartbeats } from './waiting/heartbeats.ts';

export interface GatewayOptions {
  readonly port: number;
  readonly host: string;
  readonly token?: string | undefined;
  /** Where providers reach it: their webhooks come here, and Gemini is asked for them with each batch. */
  readonly publicUrl?: URL | undefined;
  /**
   * All paths begin with this secret, for clients that can send no token. It makes the gateway one of a single
   * command: calls belong to the run of this process, and identical ones are its samples.
   */
  readonly secret?: string | undefined;
  /** The gateway's own credentials by provider, as headers. Without it clients bring theirs. */
  readonly credentials?: ReadonlyMap<string, Dict> | undefined;
  readonly limits?: Partial<GatewayLimits>;
  /** Milliseconds between two signs of life to a client that waits. */
  readonly heartbeat?: number;
  /** The option `budget` is for a day, and not for the life of the gateway. */
  readonly budgetPerDay?: boolean;
  /** Options of `batchify` for all requests. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A base URL of the gateway, and the provider's in whose place it stands. */
export interface StandIn {
  readonly url: string;
  readonly instead: string;
}

/** How long an idle connection is kept: longer than the usual load balancer does. */
const keepAliveTime = 75_000;
/** Connections that may come at once: the clients of a big job begin together. */
const backlog = 4_096;
/** A gateway that leaves waits so long for calls that are passed through, and for slow readers. */
const grace = 5_000;
/** After so long of silence the system asks whether the other side is still there. */
const probeAfter = 30_000;

const ignore = () => undefined;

/**
 * An HTTP server whose base URLs are those of the providers: it takes calls of programs in any language into
 * batches, by scopes as any program has them.
 */
export class Gateway {
  readonly #server: Server;
  readonly #context: GatewayContext;
  readonly #calls: CallHandler;
  readonly #requests: RequestHandler;
  readonly #webhooks: WebhookHandler;
  readonly #page: GatewayPage;
  readonly #use: EngineUse<Engine>;
  #state: 'serving' | 'leaving' = 'serving';
  #leaving: Promise<void> | undefined;

  static async start(given: GatewayOptions): Promise<Gateway> {
    const { secret } = given;
    const tenancy = secret === undefined ? 'multi' : 'single';
    const asked = { ...given.options, hooks: false, ...(tenancy === 'multi' && { dryRun: false }) };
    const base = given.publicUrl ? withWebhooks(asked, given.publicUrl) : asked;
    const options = resolveOptions(base);
    const routes = new Routes(options);
    // The ledger is opened at once, so that a failure is told to the operator and not to clients. A dry run makes none.
    const store = options.dryRun ? ':memory:' : options.store;
    const use = await useEngine({ ...options, store }, tenancy, given.budgetPerDay);
    const limits = { ...usualLimits, ...given.limits };
    const context: GatewayContext = {
      token: given.token,
      publicUrl: given.publicUrl,
      googleWebhook: googleWebhook(options),
      root: secret === undefined ? '' : `/${secret}`,
      credentials: given.credentials,
      hasBudget: options.budget !== undefined,
      limits,
      clock: options.clock,
      routes,
      scopes: new GatewayScopes(base, tenancy),
      engine: use.engine,
      waiting: new ClientCount(limits.waiting, limits.waitingPerClient),
      bodies: new BodyRoom(),
      heartbeats: new Heartbeats(given.heartbeat ?? 15_000),
      lost:
        secret === undefined || options.dryRun
          ? undefined
          : new LostCalls(options.store, use.engine.isStored),
      passThrough: new PassThrough(limits.bodySize),
      passedCosts: new PassedCosts(options),
      counts: { requests: 0, passedThrough: 0, gaveUp: 0, refused: new Map() },
    };
    const gateway = new Gateway(context, use, options.store);
    try {
      await listen(gateway.#server, given, backlog);
    } catch (error) {
      await use.release();
      throw error;
    }
    return gateway;
  }

  private constructor(context: GatewayContext, use: EngineUse<Engine>, store: string) {
    this.#context = context;
    this.#use = use;
    const later = new AsyncRequests(context);
    this.#calls = new CallHandler(context, later);
    this.#requests = new RequestHandler(context, later);
    this.#webhooks = new WebhookHandler(context);
    this.#page = new GatewayPage(context, store);
    const { limits } = context;
    const times = [limits.headersTime, limits.requestTime];
    this.#server = createServer(
      {
        maxHeaderSize: limits.headerSize,
        headersTimeout: limits.headersTime,
        requestTimeout: limits.requestTime,
        connectionsCheckingInterval: Math.max(
          20,
          Math.min(1_000, ...times.map((time) => time / 4)),
        ),
        keepAliveTimeout: keepAliveTime,
        keepAlive: true,
        keepAliveInitialDelay: probeAfter,
        noDelay: true,
      },
      (request, response) => void this.#handle(request, response),
    );
    guardConnections(this.#server, limits, (error) => this.#countRefused(error));
  }

  get url(): string {
    return urlOf(this.#server);
  }

  /** What it has done so far, and how many clients wait. */
  progress(): { readonly waiting: number; readonly stats: Stats } {
    const { waiting, scopes } = this.#context;
    return { waiting: waiting.all, stats: scopes.stats() };
  }

  /** Clients wait, or have gone a moment ago without their answers. */
  get hasUnanswered(): boolean {
    this.#context.lost?.forgetAnswered();
    return processCalls().areWaiting;
  }

  /** Where a client finds what it would find at this base URL; `undefined`: nowhere. */
  baseFor(provider: string, usual: string): StandIn | undefined {
    const { root, routes } = this.#context;
    const path = new URL(usual).pathname.replace(/\/$/, '');
    const instead = routes.baseOf(provider, path);
    return instead === undefined
      ? undefined
      : { url: `${this.url}${root}/${provider}${path}`, instead };
  }

  /** Where the page is; with its token, if that was made up. */
  get pageUrl(): string {
    const { ownToken } = this.#page;
    return `${this.url}${this.#context.root}/ui${ownToken === undefined ? '' : `#token=${ownToken}`}`;
  }

  /** The base URL for each provider. */
  get baseUrls(): Dict {
    const bases = this.#context.routes.bases;
    return Object.fromEntries(bases.map(({ provider, path }) => [provider, `${this.url}${path}`]));
  }

  /**
   * Takes no new calls, tells clients that wait to come back, records creates in flight, and lets go of the ledger. A
   * second call gets the same promise.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave(async () => {
      processCalls().leave();
      await leaveEngines();
    });
    return this.#leaving;
  }

  /** For a gateway whose clients have their answers: the run is finished. */
  close(): Promise<void> {
    this.#leaving ??= this.#leave(() => this.#context.scopes.close());
    return this.#leaving;
  }

  async #leave(stop: () => Promise<void>): Promise<void> {
    this.#state = 'leaving';
    this.#calls.leave();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await stop();
    const idle = setInterval(() => this.#server.closeIdleConnections(), 50);
    const lastWords = setTimeout(() => this.#server.closeAllConnections(), grace);
    await closed;
    clearInterval(idle);
    clearTimeout(lastWords);
    await this.#context.passThrough.close();
    await this.#use.release().catch(() => undefined);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#context.counts.requests += 1;
    // A connection that breaks is noticed where its answer is waited for.
    request.on('error', ignore);
    response.on('error', ignore);
    try {
      await this.#answer(request, response);
    } catch (error) {
      // Nothing that one request does may end the gateway.
      await this.#refuse(request, response, error).catch(() => response.destroy());
    }
  }

  async #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): Promise<void> {
    if (response.destroyed) return;
    const known =
      error instanceof GatewayError ? error : new GatewayError('failed', messageOf(error));
    this.#countRefused(known);
    const path = (request.url ?? '').slice(this.#context.root.length);
    const [, provider = ''] = /^\/([^/?]*)/.exec(path) ?? [];
    const answer = await known.answer(this.#context.routes.place(provider)?.registered);
    if (response.headersSent) response.destroy();
    // The rest of the request is read and thrown away, for as long as a request may take: a client that is still
    // sending would see a reset connection in place of the answer.
    request.resume();
    sendAnswer(response, answer);
  }

  #answer(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const clean = cleanPath(takeOffRoot(this.#context.root, request.url ?? ''));
    const { path } = clean;
    const accepted = this.#acceptedHost(path, request.headers.host);
    assertOwnSite(request.headers, accepted, this.#page.isAddress(path));
    if (path === '/healthz') {
      this.#sendHealth(response);
      return undefined;
    }
    // Their signature is what lets them in.
    if (path.startsWith(webhooksRoot)) return this.#webhooks.handle(request, response, path);
    if (this.#page.isPath(path)) return this.#page.answer(request, response, clean);
    const { token, credentials } = this.#context;
    checkToken(token, request.headers, credentials !== undefined);
    if (path === '/metrics') return this.#sendMetrics(response);
    if (/websocket/i.test(request.headers.upgrade ?? '')) {
      throw new GatewayError('not_supported', 'A connection cannot be upgraded here.');
    }
    const route = path.startsWith('/requests/') ? undefined : this.#context.routes.find(clean);
    if (this.#state === 'leaving') {
      throw new GatewayError('leaving', 'The gateway is being stopped. Try again soon.');
    }
    if (route) return this.#calls.handle(request, response, route);
    return this.#requests.handle(request, response, clean);
  }

  /** A page cannot guess a token. Programs that watch machines ask for their health by address. */
  #acceptedHost(path: string, host: string | undefined): AcceptedHost {
    if (path.startsWith(webhooksRoot) && host === this.#context.publicUrl?.host) return 'any';
    if (this.#context.token !== undefined) return 'any';
    return path === '/healthz' ? 'address' : 'loopback';
  }

  #sendHealth(response: ServerResponse): void {
    const isServing = this.#state === 'serving';
    response.writeHead(isServing ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: this.#state }));
  }

  async #sendMetrics(response: ServerResponse): Promise<void> {
    const text = await metrics(this.#context);
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(text);
  }

  #countRefused({ reason }: GatewayError): void {
    const { refused } = this.#context.counts;
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
  }
}
