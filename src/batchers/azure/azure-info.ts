import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo, Setting } from '../provider-info.ts';

/** Batch deployments by the online deployments they stand for. */
export type Deployments = Readonly<Record<string, string>>;

const deployments: Setting<Deployments> = {
  help: 'the batch deployment that stands for each online deployment',
  allowed: 'an object of deployment names, { "gpt-4o": "gpt-4o-batch" }',
  parse: (value) => (isDeployments(value) ? { ...value } : undefined),
};

function isDeployments(value: unknown): value is Deployments {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((name) => typeof name === 'string' && name !== '');
}

/** What costs money at a deployment and is not batched. */
const unbatched = [
  '/completions',
  '/embeddings',
  '/images/generations',
  '/images/edits',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
];

/**
 * What is known of Azure OpenAI. The root is `/openai/v1`, or `/openai` with a dated `api-version`, where
 * deployments stand in the path.
 *
 * @example
 * const mine: ProviderInfo = { ...azureInfo, name: 'mine', hosts: ['gateway.example.com'] };
 */
export const azureInfo: ProviderInfo<'azure', { deployments: Setting<Deployments> }> = {
  ...openaiInfo,
  name: 'azure',
  hosts: ['*.openai.azure.com', '*.services.ai.azure.com', '*.cognitiveservices.azure.com'],
  roots: ['/openai/v1', '/openai'],
  versions: ['/v1'],
  endpoints: ['/chat/completions', '/responses', '/deployments/*/chat/completions'],
  unbatched: [...unbatched, '/videos', ...unbatched.map((path) => `/deployments/*${path}`)],
  // The last one is what gateways of Azure's API Management ask for.
  credentialHeaders: ['api-key', 'authorization', 'ocp-apim-subscription-key'],
  baseQuery: ['api-version'],
  accountHeaders: [],
  ownHeaders: /^x-ms-service-tier$/,
  environment: ['AZURE_OPENAI_API_KEY'],
  settings: { deployments },
};
