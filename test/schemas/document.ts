import { readFileSync } from 'node:fs';
import type { Schema, Schemas } from './json-schema.ts';

interface Content {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

/** A published OpenAPI document, cut down to what we speak. The file says where it comes from. */
export interface PublishedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

export function readDocument(name: string): PublishedDocument {
  return JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8'));
}

/** The operation of a path, and its template: `/batches/{id}`. */
export function findOperation(
  { paths }: PublishedDocument,
  method: string,
  path: string,
): { readonly template: string; readonly operation: Operation } | undefined {
  const found = Object.entries(paths)
    .filter(([template]) => isOf(template, path))
    // `/files/upload` is not a file named "upload".
    .sort(([a], [b]) => a.split('{').length - b.split('{').length || b.length - a.length)
    .find(([, operations]) => method.toLowerCase() in operations);
  if (found === undefined) return undefined;
  const [template, operations] = found;
  return { template, operation: operations[method.toLowerCase()] as Operation };
}

function isOf(template: string, path: string): boolean {
  const parts = template.split('/');
  const given = path.split('/');
  const fits = (part: string, index: number) => {
    // `{id}:upload` is a path of its own beside `{id}`.
    const [, ending = ''] = part.split('}');
    return part.startsWith('{') ? given[index]?.endsWith(ending) : part === given[index];
  };
  return parts.length === given.length && parts.every(fits);
}
