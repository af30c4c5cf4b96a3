import type { Call } from '../batcher.ts';
import { withMember } from '../shared/json-text.ts';
import { text } from '../shared/outcomes.ts';
import type { Deployments } from './azure-info.ts';

const deploymentInPath = /^\/deployments\/([^/]+)(?=\/)/;

/** The deployment that a call was made for: in the path, or where OpenAI has its models. */
export function onlineDeployment({ path, json }: Pick<Call, 'path' | 'json'>): string | undefined {
  const [, inPath] = deploymentInPath.exec(path) ?? [];
  return inPath === undefined ? text(json.model) : decoded(inPath);
}

/** A segment with a broken escape stands for itself. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The batch deployment that the user has named for it. */
export function batchDeployment(online: string, { settings }: Call): string | undefined {
  const deployments = (settings.deployments ?? {}) as Deployments;
  return Object.hasOwn(deployments, online) ? deployments[online] : undefined;
}

/** The same call as OpenAI would get it: no deployment in the path, this one in the body. */
export function asOpenAI(call: Call, deployment: string): Call {
  const { path, json, body } = call;
  return {
    ...call,
    path: path.replace(deploymentInPath, ''),
    json: { ...json, model: deployment },
    body: json.model === deployment ? body : withMember(body, 'model', JSON.stringify(deployment)),
  };
}

/** A date names a version of the older API; the newer one has none, `preview` or `latest`. */
export function datedVersion(url: string): string | undefined {
  return /[?&]api-version=(\d{4}-\d\d-\d\d)/.exec(url)?.[1];
}

export function howToConfigure(online: string): string {
  return (
    `Azure runs batches on deployments of their own, and none is named for "${online}". Set ` +
    `providers: { azure: { deployments: { ${JSON.stringify(online)}: '<batch deployment>' } } }, ` +
    'or leave such calls out with the option only.'
  );
}
