import { fields } from '../../base/json.ts';

/** A schema that contains itself ends here. */
const deepest = 24;
const placeholder = 'placeholder';

/** Texts that a format asks for. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2000-01-01T00:00:00Z',
  date: '2000-01-01',
  time: '00:00:00Z',
  email: 'placeholder@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

type Schema = Readonly<Record<string, unknown>>;

/** A small value that follows a JSON schema: required members only, lists as short as they may be. */
export function schemaInstance(schema: unknown): unknown {
  return instance(schema, schema, 0);
}

function instance(given: unknown, root: unknown, depth: number): unknown {
  if (depth > deepest) return null;
  const schema = resolved(given, root, depth);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if ('default' in schema) return schema.default;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return instance(simplest(choices), root, depth + 1);
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, root, depth);
    case 'array':
      return listOf(schema, root, depth);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return textOf(schema);
  }
}

/** Follows `$ref`, and joins the parts of `allOf`. */
function resolved(given: unknown, root: unknown, depth: number): Schema {
  const { $ref: reference, allOf, ...own } = fields(given);
  const parts = Array.isArray(allOf) ? [...allOf] : [];
  if (typeof reference === 'string') parts.push(follow(reference, root));
  let joined: Record<string, unknown> = own;
  for (const part of depth > deepest ? [] : parts) {
    const other = resolved(part, root, depth + 1);
    const properties = { ...fields(other.properties), ...fields(joined.properties) };
    const required = [...names(other.required), ...names(joined.required)];
    joined = { ...other, ...joined, properties, required };
  }
  return joined;
}

/** `#/$defs/Person`. */
function follow(reference: string, root: unknown): unknown {
  let found = root;
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    found = fields(found)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return found;
}

/** What may be null is null: a schema that contains itself ends soonest so. */
function simplest(choices: readonly unknown[]): unknown {
  return choices.find((choice) => typeOf(fields(choice)) === 'null') ?? choices[0];
}

/** The type in lower case: Gemini's own schemas say `OBJECT`. */
function typeOf({ type, properties, items }: Schema): string {
  const first = Array.isArray(type) ? type[0] : type;
  if (typeof first === 'string') return first.toLowerCase();
  if (properties !== undefined) return 'object';
  return items === undefined ? 'string' : 'array';
}

function objectOf({ properties, required }: Schema, root: unknown, depth: number): unknown {
  const known = fields(properties);
  const wanted = Array.isArray(required) ? names(required) : Object.keys(known);
  return Object.fromEntries(
    wanted.map((name) => [name, instance(known[name] ?? {}, root, depth + 1)]),
  );
}

function listOf({ items, prefixItems, minItems }: Schema, root: unknown, depth: number): unknown {
  const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const length = Math.max(Number(minItems ?? 0), first.length);
  return Array.from({ length }, (_, index) => instance(first[index] ?? items, root, depth + 1));
}

function numberOf({ minimum, exclusiveMinimum, maximum }: Schema): number {
  if (typeof minimum === 'number') return minimum;
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1;
  return typeof maximum === 'number' ? Math.min(0, maximum) : 0;
}

function textOf({ format, minLength, maxLength }: Schema): string {
  const text = formats[String(format)] ?? placeholder;
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  return text.padEnd(least, '.').slice(0, most);
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
