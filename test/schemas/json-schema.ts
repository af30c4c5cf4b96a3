/** A schema as OpenAPI writes it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export type Schemas = Readonly<Record<string, Schema>>;

const pointer = '#/components/schemas/';

/**
 * Named schemas of OpenAPI as JSON Schema, in which `nullable` is a type. Objects are closed: a field that the
 * schema does not name is a fault too, since a misspelt optional field would pass otherwise.
 */
export function toJsonSchemas(schemas: Schemas): Record<string, object> {
  const open = partsOfOthers(schemas);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, toJsonSchema(schema, open.has(name))]),
  );
}

/** One schema; an open one says nothing of fields it does not name. */
export function toJsonSchema(schema: Schema, isOpen = false): object {
  const { nullable, $ref, properties, items, allOf, anyOf, oneOf, ...rest } = schema;
  const named = typeof rest.additionalProperties === 'object';
  const json = {
    ...rest,
    ...($ref !== undefined && { $ref: `published#/$defs/${$ref.slice(pointer.length)}` }),
    ...(properties !== undefined && { properties: mapValues(properties) }),
    ...(named && { additionalProperties: toJsonSchema(rest.additionalProperties as Schema) }),
    ...(items !== undefined && { items: toJsonSchema(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map((part) => toJsonSchema(part)) }),
    ...(oneOf !== undefined && { oneOf: oneOf.map((part) => toJsonSchema(part)) }),
    ...(allOf !== undefined && {
      allOf: allOf.filter(saysMore).map((part) => toJsonSchema(part, true)),
    }),
    ...(!isOpen && isObject(schema) && { unevaluatedProperties: false }),
  };
  const isNullable = nullable === true || allOf?.some((part) => part.nullable === true);
  return isNullable ? { anyOf: [json, { type: 'null' }] } : json;
}

/** Some documents write `allOf: [{ nullable: true }, …]`. */
function saysMore(part: Schema): boolean {
  return Object.keys(part).some((key) => key !== 'nullable');
}

function isObject({ properties, allOf, additionalProperties }: Schema): boolean {
  return additionalProperties === undefined && (properties !== undefined || allOf !== undefined);
}

function mapValues(schemas: Schemas): Record<string, object> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, toJsonSchema(schema)]),
  );
}

/** Names of schemas that are one part of an `allOf`: the whole knows which fields there are. */
function partsOfOthers(schemas: Schemas): ReadonlySet<string> {
  const parts = Object.values(schemas).flatMap(({ allOf = [] }) => allOf);
  return new Set(parts.map(({ $ref = '' }) => $ref.slice(pointer.length)));
}
