import { fields, type JsonObject, parseJson } from '../../base/json.ts';
import type { Batcher } from '../../batchers/batcher.ts';

/** Requests of a queue that a provider takes or refuses alike: the same fields, schema and tools. */
export interface Kind {
  readonly key: string;
  /** How people know it: `gpt-5-mini (schema Invoice)`. */
  readonly label: string;
}

export function kindOf(batcher: Batcher, model: string, body: string): Kind {
  const json = fields(parseJson(body));
  const { tools } = json;
  const schema = schemaOf(batcher, json);
  return { key: kindKey(batcher, json), label: `${model}${details(schema, tools)}` };
}

let last: { readonly names: readonly string[]; readonly key: string } | undefined;

/** The same for all requests of a kind, of a body that is parsed already. */
export function kindKey(batcher: Batcher, json: JsonObject): string {
  const schema = schemaOf(batcher, json);
  const { tools } = json;
  const names = Object.keys(json);
  const isPlain = schema === undefined && tools === undefined;
  // Nearly all requests that follow each other have the same fields.
  if (isPlain && last && areSame(last.names, names)) return last.key;
  const key = JSON.stringify([[...names].sort(), schema, tools]);
  if (isPlain) last = { names, key };
  return key;
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, index) => name === others[index]);
}

/** A batcher may be the user's and throw: then its schema is told apart by nothing. */
function schemaOf(batcher: Batcher, json: JsonObject): unknown {
  try {
    return batcher.outputSchema(json);
  } catch {
    return undefined;
  }
}

function details(schema: unknown, tools: unknown): string {
  const parts: string[] = [];
  if (schema !== undefined) parts.push(['schema', nameOf(schema)].join(' ').trim());
  if (Array.isArray(tools) && tools.length > 0) {
    const [first, ...others] = tools.map(nameOf).filter((name) => name !== '');
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    parts.push(first === undefined ? 'tools' : `tool ${first}${more}`);
  }
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** The name of a schema or of a tool, wherever its provider writes it. */
function nameOf(value: unknown): string {
  const {
    name,
    title,
    json_schema,
    schema,
    function: nested,
    functionDeclarations,
  } = fields(value);
  const first = Array.isArray(functionDeclarations) ? functionDeclarations[0] : undefined;
  const named = [name, title, fields(json_schema).name, fields(schema).title];
  const found = [...named, fields(nested).name, fields(first).name];
  const text = found.find((one): one is string => typeof one === 'string') ?? '';
  return text.slice(0, 60);
}
