import { demandSignature, signerOf } from '../bedrock/signatures.ts';
import type { Exchange } from '../server/exchange.ts';
import type { Handler, Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches.ts';
import {
  demandTokenBeta,
  demandVersion,
  demandWorkspace,
  errorBody,
  notFound,
  unauthorized,
} from './errors.ts';
import { answerMessage } from './realtime.ts';

export function createAnthropic(world: World): Provider {
  const batches = createBatches(world);
  const versioned =
    (handler: Handler): Handler =>
    async (exchange, id) => {
      demandVersion(exchange);
      demandTokenBeta(exchange);
      return handler(await checked(exchange), id);
    };
  /** Claude Platform on AWS is the same behind signatures. */
  const checked = (exchange: Exchange) => {
    if (signerOf(exchange.headers) === null) return exchange;
    demandWorkspace(exchange);
    return demandSignature(exchange, 'aws-external-anthropic', world.clock.now());
  };
  return {
    basePath: '',
    barePaths: ['/v1/messages'],
    keyHeaders: ['x-api-key'],
    scopeHeaders: ['anthropic-workspace-id'],
    credentialIn: signerOf,
    requestIdHeader: 'request-id',
    createPath: '/v1/messages/batches',
    errorBody,
    notFound,
    unauthorized,
    batches: batches.store,
    addForeignBatch: batches.addForeign,
    routes: [
      ['POST', '/v1/messages', versioned(answerMessage(world))],
      ['POST', '/v1/messages/batches', versioned(batches.create)],
      ['GET', '/v1/messages/batches', versioned(batches.list)],
      ['GET', '/v1/messages/batches/:id', versioned(batches.get)],
      ['DELETE', '/v1/messages/batches/:id', versioned(batches.remove)],
      ['POST', '/v1/messages/batches/:id/cancel', versioned(batches.cancel)],
      ['GET', '/v1/messages/batches/:id/results', versioned(batches.results)],
    ],
  };
}
