import { createHash } from 'node:crypto';
import { Refusal } from '../server/exchange.ts';

export interface Place {
  project: string;
  location: string;
}

/** The project and the location of `/v1/projects/p/locations/l/…`. */
export function placeIn(path: string): Place {
  const [, project, location] = /\/projects\/([^/]+)\/locations\/([^/]+)\//.exec(path) ?? [];
  if (project === undefined || location === undefined) throw new Refusal(404, 'Not found.');
  return { project: decodeURIComponent(project), location: decodeURIComponent(location) };
}

/** Answers call a project by its number, whatever a request calls it. */
export function projectNumber(project: string): string {
  if (/^\d+$/.test(project)) return project;
  return digitsOf(project, 12);
}

export function digitsOf(text: string, count: number): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 15);
  return String(BigInt(`0x${hash}`))
    .padEnd(count, '7')
    .slice(0, count);
}

/** Where a model is asked outside of a batch. */
export function endpointOf({ project, location }: Place, model: string, method: string): string {
  return `/v1/projects/${project}/locations/${location}/${model}:${method}`;
}
