import type { IncomingMessage } from 'node:http';
import type { Clock, Dict } from '../base/types.ts';
import type { Engine } from '../orchestrator/engine.ts';
import type { BodyRoom } from './admission/body-room.ts';
import type { ClientCount, GatewayLimits } from './admission/gateway-limits.ts';
import { GatewayError } from './gateway-error.ts';
import type { GatewayScopes } from './gateway-scopes.ts';
import type { PassThrough } from './pass-through/pass-through.ts';
import type { PassedCosts } from './pass-through/passed-costs.ts';
import type { Routes } from './request/routes.ts';
import type { Heartbeats } from './waiting/heartbeats.ts';

/** What the parts of a gateway share. */
export interface GatewayContext {
  readonly token: string | undefined;
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

/** Counts a request that waits; returns how to count it out again. */
export function enterWaiting({ waiting }: GatewayContext, request: IncomingMessage): () => void {
  const leave = waiting.enter(request.socket.remoteAddress ?? '');
  if (leave) return leave;
  throw new GatewayError('too_many_waiting', 'Too many requests wait here. Try again later.');
}
