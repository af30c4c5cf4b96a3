import type { ProviderParts } from '../openai-like/description.ts';
import { answerRealtime } from '../openai-like/realtime.ts';
import { batchRoutes, fileRoutes } from '../openai-like/routes.ts';
import type { Handler, Route } from '../world/provider.ts';
import { newer, older } from './api-version.ts';

/** Everything below both roots; deployments stand in the path of the older one only. */
export function azureRoutes(parts: ProviderParts): readonly Route[] {
  const { world, like } = parts;
  const chat = answerRealtime(world, like, '/v1/chat/completions');
  const responses = answerRealtime(world, like, '/v1/responses');
  return [
    ...below('/openai/v1', parts, newer),
    ['POST', '/openai/v1/chat/completions', newer(chat)],
    ['POST', '/openai/v1/responses', newer(responses)],
    ...below('/openai', parts, older),
    ['POST', '/openai/deployments/:id/chat/completions', older(chat)],
    ['POST', '/openai/responses', older(responses)],
  ];
}

function below(
  root: string,
  { files, batches }: ProviderParts,
  versioned: (handler: Handler) => Handler,
): readonly Route[] {
  const routes = [
    ...fileRoutes(`${root}/files`, files),
    ...batchRoutes(`${root}/batches`, batches),
  ];
  return routes.map(([method, path, handler]) => [method, path, versioned(handler)]);
}
