import type { Handler, Route } from '../world/provider.ts';
import type { Files } from './files/files.ts';

export function fileRoutes(at: string, files: Files): Route[] {
  return [
    ['POST', at, files.upload],
    ['GET', at, files.list],
    ['GET', `${at}/:id`, files.get],
    ['DELETE', `${at}/:id`, files.remove],
    ['GET', `${at}/:id/content`, files.content],
  ];
}

export function batchRoutes(
  at: string,
  { create, list, get, cancel }: Record<'create' | 'list' | 'get' | 'cancel', Handler>,
): Route[] {
  return [
    ['POST', at, create],
    ['GET', at, list],
    ['GET', `${at}/:id`, get],
    ['POST', `${at}/:id/cancel`, cancel],
  ];
}
