import { text } from '../../base/json.ts';
import type { Call } from '../batcher.ts';
import { withMember } from '../shared/json-text.ts';
import { decoded } from '../shared/paths.ts';
import type { Deployments } from './azure-info.ts';

const deploymentInPath = /^\/deployments\/([^/]+)(?=\/)/;

/** The deployment that a call was made for: in the path, or where OpenAI has its models. */
export function onlineDeployment({ path, json }: Pick<Call, 'path' | 'json'>): string | undefined {
  const [, inPath] = deploymentInPath.exec(path) ?? [];
  return inPath === undefined ? text(json.model) : decoded(inPath);
}

/** The deployment that a call was made for which batches run on this one: by its path, or by the settings. */
export function namedDeployment(
  { path, settings }: Pick<Call, 'path' | 'settings'>,
  batch: string,
): string {
  const deployments = Object.entries((settings.deployments ?? {}) as Deployments);
  const [named] = deployments.find(([, one]) => one === batch) ?? [];
  return onlineDeployment({ path, json: {} }) ?? named ?? batch;
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
