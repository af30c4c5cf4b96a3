import type { IncomingMessage } from 'node:http';
import type { Clock, Dict } from '../base/types.ts';
import type { Engine } from '../orchestrator/engine.ts';
import type { BodyRoom } from './admission/body-room.ts';
import type { ClientCount, GatewayLimits } from './admission/gateway-limits.ts';
import { GatewayError } from './gateway-error.ts';
import type { GatewayScopes } from './gateway-scopes.ts';
import type { LostCalls } from './lost-calls.ts';
import type { PassThrough } from './pass-through/pass-through.ts';
import type { PassedCosts } from './pass-through/passed-costs.ts';
import type { Routes } from './request/routes.ts';
import type { Heartbeats } from './waiting/heartbeats.ts';

/** What the parts of a gateway share. */
export interface GatewayContext {
  readonly token: string | undefined;
  /** Where providers reach it. */
  readonly publicUrl: URL | undefined;
  /** Where Gemini is asked to tell of each batch, if it is. */
  readonly googleWebhook: URL | undefined;
  /** All paths begin with it: a slash and a secret, or nothing. */
  readonly root: string;
  /** The gateway's own credentials by provider; `undefined`: clients bring theirs. */
  readonly credentials: ReadonlyMap<string, Dict> | undefined;
  /** The cost of calls is counted and limited. */
  readonly hasBudget: boolean;
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly routes: Routes;
  readonly scopes: GatewayScopes;
  readonly engine: Engine;
  /** Requests that wait for their answers. */
  readonly waiting: ClientCount;
  /** Room in memory for bodies that are being read. */
  readonly bodies: BodyRoom;
  readonly heartbeats: Heartbeats;
  /** Set for the gateway of a command. */
  readonly lost: LostCalls | undefined;
  readonly passThrough: PassThrough;
  readonly passedCosts: PassedCosts;
  readonly counts: GatewayCounts;
}

/** What the gateway counts beside the stats of its scopes. */
export interface GatewayCounts {
  requests: number;
  passedThrough: number;
  /** Clients that closed their connection before their answer was there. */
  gaveUp: number;
  refused: Map<string, number>;
}

/** The gateway's own credential for a provider, which then replaces the client's. */
export function ownCredential({ credentials }: GatewayContext, provider: string): Dict | undefined {
  if (credentials === undefined) return undefined;
  const own = credentials.get(provider);
  if (own) return own;
  throw new GatewayError(
    'no_credential',
    `This gateway has no credential of its own for ${provider}.`,
  );
}

/** Counts a request that waits; returns the address of its client, by which it leaves `waiting` again. */
export function enterWaiting({ waiting }: GatewayContext, request: IncomingMessage): string {
  const client = request.socket.remoteAddress ?? '';
  if (waiting.enter(client)) return client;
  throw new GatewayError('too_many_waiting', 'Too many requests wait here. Try again later.');
}
