/** What a provider is called by the conventions of OpenTelemetry, where that is not our name for it. */
const providerNames: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
};

export function providerName(provider: string): string {
  return providerNames[provider] ?? provider;
}

const operations: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/generateContent/i, 'generate_content'],
  [/chat\/completions|messages|responses|agent$|^Converse$|^InvokeModel$/, 'chat'],
  [/completions/, 'text_completion'],
];

/** `gen_ai.operation.name` of a request; an endpoint without a conventional name keeps the last part of its path. */
export function operationName(endpoint: string, model: string): string {
  // Bedrock has one endpoint for all that its models do.
  if (/embed/i.test(endpoint) || /embed/i.test(model)) return 'embeddings';
  const known = operations.find(([pattern]) => pattern.test(endpoint));
  return known?.[1] ?? endpoint.split(/[/:]/).at(-1) ?? endpoint;
}
