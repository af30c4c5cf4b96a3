import { isObject, type JsonObject } from '../../server/json.ts';
import { sampleNumber } from './sample-number.ts';
import { sampleText } from './sample-text.ts';

interface Place {
  /** Where `$ref` leads. */
  root: unknown;
  /** What a text says. */
  text: string;
  /** Names of properties down to here, for messages. */
  path: readonly string[];
  /** Schemas that were entered on the way here: one that contains itself ends at some depth. */
  depth: number;
  /** Position in a list, so that its items differ. */
  nth: number;
}

/** Beyond this depth nothing is added that could be left out. */
const deep = 6;

/** For a schema that cannot be followed. */
export class SchemaError extends Error {
  constructor(problem: string, path: readonly string[]) {
    const at = path.length === 0 ? '' : ` at ${path.join('.')}`;
    super(`The simulator cannot follow the schema${at}: ${problem}.`);
  }
}

/** A value that follows the JSON schema, the same for the same schema and text. */
export function sampleSchema(schema: unknown, text: string): unknown {
  return sample(schema, { root: schema, text, path: [], depth: 0, nth: 0 });
}

function sample(given: unknown, place: Place): unknown {
  if (place.depth > 60) throw new SchemaError('it contains itself without an end', place.path);
  const at = { ...place, depth: place.depth + 1 };
  if (!isObject(given)) return at.text;
  const schema = merged(given, at);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[at.nth % schema.enum.length];
  if ('default' in schema) return schema.default;
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return sample(branchOf(branches, at), at);
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, at);
    case 'array':
      return sampleList(schema, at);
    case 'integer':
    case 'number':
      return sampleNumber(schema, at.nth);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return textAt(schema, at);
  }
}

/** Follows `$ref` and adds up `allOf`. */
function merged(schema: JsonObject, place: Place): JsonObject {
  const { $ref: ref, allOf, ...own } = schema;
  let result: JsonObject = own;
  const parts = Array.isArray(allOf) ? [...allOf] : [];
  if (typeof ref === 'string') parts.unshift(lookUp(ref, place));
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (place.depth > 60) throw new SchemaError('it contains itself without an end', place.path);
    const other = merged(part, { ...place, depth: place.depth + 1 });
    result = {
      ...other,
      ...result,
      ...joined('properties', other, result),
      ...(isList(other.required) || isList(result.required)
        ? { required: [...listOf(other.required), ...listOf(result.required)] }
        : {}),
    };
  }
  return result;
}

function joined(name: string, left: JsonObject, right: JsonObject): JsonObject {
  if (!isObject(left[name]) || !isObject(right[name])) return {};
  return { [name]: { ...left[name], ...right[name] } };
}

/** `#/$defs/Person`, a JSON pointer into the schema itself. */
function lookUp(ref: string, { root, path }: Place): unknown {
  let found: unknown = ref.startsWith('#') ? root : undefined;
  for (const part of ref.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) || isList(found) ? (found as JsonObject)[key] : undefined;
  }
  if (found === undefined) throw new SchemaError(`${ref} leads nowhere`, path);
  return found;
}

/** The first branch; deep down the first that holds nothing further. */
function branchOf(branches: readonly unknown[], { depth }: Place): unknown {
  const isFlat = (branch: unknown) =>
    isObject(branch) && branch.$ref === undefined && !/object|array/.test(String(typeOf(branch)));
  return (depth > deep ? branches.find(isFlat) : undefined) ?? branches[0];
}

function typeOf({ type, properties, items, prefixItems }: JsonObject): unknown {
  if (isList(type)) return type[0];
  if (type !== undefined) return type;
  if (isObject(properties)) return 'object';
  return items !== undefined || prefixItems !== undefined ? 'array' : 'string';
}

function sampleObject({ properties, required }: JsonObject, place: Place): JsonObject {
  const needed = new Set(listOf(required).map(String));
  const result: JsonObject = {};
  for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
    if (place.depth > deep && !needed.has(name)) continue;
    result[name] = sample(schema, { ...place, path: [...place.path, name], nth: 0 });
  }
  for (const name of needed) if (!(name in result)) result[name] = place.text;
  return result;
}

function sampleList({ items, prefixItems, minItems, maxItems }: JsonObject, place: Place) {
  const first = listOf(prefixItems);
  const least = typeof minItems === 'number' ? minItems : 0;
  const usual = place.depth > deep || items === false ? 0 : 1;
  const most = typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY;
  const length = Math.min(Math.max(least, usual, first.length), most);
  return Array.from({ length }, (_, nth) => sample(first[nth] ?? items, { ...place, nth }));
}

function textAt(schema: JsonObject, { text, nth, path }: Place): string {
  const result = sampleText(schema, nth === 0 ? text : `${text} ${nth + 1}`);
  if (result !== null) return result;
  const problem = `no text it knows matches the pattern ${schema.pattern}`;
  throw new SchemaError(`${problem}; answer this request with the option \`answer\``, path);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}
