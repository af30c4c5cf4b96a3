import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sampleSchema } from './sample-schema.ts';

interface Category {
  name: string;
  parent: Category | null;
  children: Category[];
}
const category: z.ZodType<Category> = z.lazy(() =>
  z.object({ name: z.string(), parent: category.nullable(), children: z.array(category) }),
);

const schemas: Record<string, z.ZodType> = {
  text: z.string(),
  'a short text': z.string().max(5),
  'a long text': z.string().min(200),
  number: z.number(),
  'a positive number': z.number().positive(),
  'a small share': z.number().gt(0).lt(0.01),
  'a negative number': z.number().max(-3.5),
  integer: z.int(),
  'an integer within bounds': z.int().min(18).max(120),
  'an integer below': z.int().lt(-4),
  'a multiple': z.int().min(10).multipleOf(7),
  boolean: z.boolean(),
  null: z.null(),
  literal: z.literal('yes'),
  enum: z.enum(['good', 'bad']),
  'a nullable enum': z.enum(['good', 'bad']).nullable(),
  union: z.union([z.object({ kind: z.literal('a'), n: z.number() }), z.string()]),
  'a discriminated union': z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), a: z.string() }),
    z.object({ kind: z.literal('b'), b: z.number() }),
  ]),
  intersection: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  nested: z.object({ person: z.object({ name: z.string(), tags: z.array(z.string()) }) }),
  optional: z.object({ a: z.string().optional(), b: z.number().optional() }),
  default: z.object({ level: z.number().default(3) }),
  record: z.record(z.string(), z.number()),
  tuple: z.tuple([z.string(), z.number(), z.boolean()]),
  'a list of some': z.array(z.int()).min(3),
  'a list of few': z.array(z.string()).max(0),
  email: z.email(),
  uuid: z.uuid(),
  url: z.url(),
  'date and time': z.iso.datetime(),
  date: z.iso.date(),
  time: z.iso.time(),
  duration: z.iso.duration(),
  'an address of IPv4': z.ipv4(),
  'an address of IPv6': z.ipv6(),
  'a pattern': z.string().regex(/^\d{5}$/),
  'a schema that contains itself': category,
};

describe('a sample follows the schema of', () => {
  it.each(Object.keys(schemas))('%s', (name) => {
    const schema = schemas[name] as z.ZodType;
    const sample = sampleSchema(z.toJSONSchema(schema, { io: 'input' }), 'answer to "why?"');
    expect(schema.safeParse(sample)).toMatchObject({ success: true });
  });
});

it('says the text where there is room for one', () => {
  const schema = z.object({ summary: z.string(), tags: z.array(z.string()).min(2) });
  expect(sampleSchema(z.toJSONSchema(schema), 'to say')).toEqual({
    summary: 'to say',
    tags: ['to say', 'to say 2'],
  });
});

it('takes the first of an enum, of a union and of several types', () => {
  const properties = {
    a: { enum: ['x', 'y'] },
    b: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    c: { type: ['integer', 'null'] },
  };
  expect(sampleSchema({ type: 'object', properties }, 't')).toEqual({ a: 'x', b: true, c: 1 });
});

it('follows references with odd names, and those to references', () => {
  const $defs = { 'a/b': { $ref: '#/$defs/c' }, c: { const: 7 } };
  expect(sampleSchema({ $ref: '#/$defs/a~1b', $defs }, 't')).toBe(7);
});

it.each([
  [
    'a pattern that nothing known matches',
    { type: 'object', properties: { a: { type: 'string', pattern: '^qq+$' } } },
    'cannot follow the schema at a: no text it knows matches the pattern ^qq+$',
  ],
  ['a pattern of another language', { pattern: '(?x)a' }, 'matches the pattern (?x)a'],
  ['a reference to nothing', { $ref: '#/$defs/x' }, '#/$defs/x leads nowhere'],
  ['a reference to itself', { $ref: '#' }, 'it contains itself without an end'],
  [
    'an object that must contain itself',
    { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] },
    'it contains itself without an end',
  ],
])('says what it cannot do about %s', (_name, schema, message) => {
  expect(() => sampleSchema(schema, 't')).toThrow(message);
});
