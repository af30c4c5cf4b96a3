import { describe, expect, it } from 'vitest';
import { schemaInstance } from './schema-instance.ts';

describe('an instance of a schema', () => {
  it.each([
    [{ type: 'string' }, 'placeholder'],
    [{ type: 'string', maxLength: 3 }, 'pla'],
    [{ type: 'string', format: 'date' }, '2000-01-01'],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: 'number', maximum: -2 }, -2],
    [{ type: 'boolean' }, false],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ const: 7 }, 7],
    [{ type: ['string', 'null'] }, 'placeholder'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null],
    [{ type: 'array', items: { type: 'number' }, minItems: 2 }, [0, 0]],
    [{ type: 'array', items: { type: 'number' } }, []],
    [{ type: 'OBJECT', properties: { a: { type: 'STRING' } } }, { a: 'placeholder' }],
    [undefined, 'placeholder'],
  ])('%j', (schema, expected) => {
    expect(schemaInstance(schema)).toEqual(expected);
  });

  it('has the required members only', () => {
    const properties = { needed: { type: 'string' }, other: { type: 'string' } };
    const schema = { type: 'object', properties, required: ['needed'] };
    expect(schemaInstance(schema)).toEqual({ needed: 'placeholder' });
  });

  it('follows references, and ends where a schema contains itself', () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/Node' } },
      required: ['next'],
    };
    expect(JSON.stringify(schemaInstance({ $ref: '#/$defs/Node', $defs: { Node: node } }))).toMatch(
      /^\{"next":\{"next".*null/,
    );
  });

  it('joins the parts of allOf', () => {
    const part = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'null' } },
      required: [name],
    });
    expect(schemaInstance({ allOf: [part('a'), part('b')] })).toEqual({ a: null, b: null });
  });
});
