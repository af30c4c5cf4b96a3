import type { Handler, Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches.ts';
import { demandTokenBeta, demandVersion, errorBody, notFound, unauthorized } from './errors.ts';
import { answerMessage } from './realtime.ts';

export function createAnthropic(world: World): Provider {
  const batches = createBatches(world);
  const versioned =
    (handler: Handler): Handler =>
    (exchange, id) => {
      demandVersion(exchange);
      demandTokenBeta(exchange);
      return handler(exchange, id);
    };
  return {
    basePath: '',
    barePaths: ['/v1/messages'],
    keyHeaders: ['x-api-key'],
    scopeHeaders: ['anthropic-workspace-id'],
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
