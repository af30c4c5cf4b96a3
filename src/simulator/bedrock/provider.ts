import { answerRealtime } from '../openai-like/realtime.ts';
import { batchRoutes } from '../openai-like/routes.ts';
import { Refusal } from '../server/exchange.ts';
import type { Handler, Provider, Route } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { errorBody, refusal } from './errors.ts';
import { createJobs } from './jobs.ts';
import { createObjects, xmlError } from './objects.ts';
import { createOpenAIBatches, openaiOfBedrock } from './openai-batches.ts';
import { createRealtime } from './realtime.ts';
import { demandSignature, signerOf } from './signatures.ts';

/** The deepest folder that S3 is asked for here. */
const deepest = 12;

const chat = '/v1/chat/completions';

/** Amazon Bedrock, its control plane, and the little of S3 that its jobs need, on one host. Every request is signed. */
export function createBedrock(world: World): Provider {
  const objects = createObjects(world);
  const jobs = createJobs(world, objects);
  const batches = createOpenAIBatches(world, objects);
  const realtime = createRealtime(world);
  const signed =
    (service: string, handler: Handler): Handler =>
    async (exchange, id) =>
      handler(await demandSignature(exchange, service, world.clock.now()), id);
  const atBedrock = (method: string, path: string, handler: Handler): Route => [
    method,
    path,
    signed('bedrock', handler),
  ];
  const inStorage = (method: string, handler: Handler): Route[] =>
    Array.from(
      { length: deepest },
      (_, depth): Route => [
        method,
        `/:id${'/:id'.repeat(depth + 1)}`,
        signed('s3', storageErrors(handler)),
      ],
    );
  return {
    basePath: '',
    barePaths: ['/model', '/model-invocation-job', '/model-invocation-jobs'],
    keyHeaders: [],
    scopeHeaders: [],
    requestIdHeader: 'x-amzn-requestid',
    createPath: /^\/(model-invocation-job|openai\/v1\/batches)$/,
    credentialIn: signerOf,
    errorBody,
    notFound: () => refusal(404, 'There is nothing at this path.'),
    unauthorized: () =>
      refusal(
        403,
        'The security token included in the request is invalid.',
        'UnrecognizedClientException',
      ),
    batches: { all: () => [...jobs.store.all(), ...batches.store.all()] },
    addForeignBatch: jobs.addForeign,
    routes: [
      atBedrock('POST', '/model/:id/invoke', realtime.answer),
      atBedrock('POST', '/model/:id/converse', realtime.answer),
      atBedrock('POST', '/model/:id/converse-stream', realtime.converseStream),
      atBedrock('POST', '/model/:id/invoke-with-response-stream', realtime.invokeStream),
      atBedrock('POST', '/model-invocation-job', jobs.create),
      atBedrock('GET', '/model-invocation-jobs', jobs.list),
      atBedrock('GET', '/model-invocation-job/:id', jobs.get),
      atBedrock('POST', '/model-invocation-job/:id/stop', jobs.stop),
      atBedrock('POST', `/openai${chat}`, answerRealtime(world, openaiOfBedrock, chat)),
      ...batchRoutes('/openai/v1/batches', batches).map(([method, path, handler]) =>
        atBedrock(method, path, handler),
      ),
      ...inStorage('PUT', objects.write),
      ...inStorage('GET', objects.read),
      ...inStorage('DELETE', objects.remove),
      ['GET', '/:id', signed('s3', storageErrors(objects.list))],
    ],
  };
}

/** S3 tells its errors in another form. */
function storageErrors(handler: Handler): Handler {
  return async (exchange, id) => {
    try {
      return await handler(exchange, id);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const headers = { 'content-type': 'application/xml' };
      return { status: error.status, headers, body: xmlError(error) };
    }
  };
}
