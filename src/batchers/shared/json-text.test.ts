import { describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { elementTexts, memberText, onOneLine, withMember, withoutMembers } from './json-text.ts';

const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);

/** One string in one of its spellings: as `JSON.stringify` does, or all escapes. */
const stringText = fc.tuple(fc.string({ unit: 'binary' }), fc.boolean()).map(([text, escaped]) => {
  if (!escaped) return JSON.stringify(text);
  const codes = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${codes.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')}"`;
});

const scalarText = fc.oneof(
  stringText,
  fc.integer().map(String),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String),
  fc.constantFrom('1E400', '-0', '0.10', '1e-7', '9007199254740993', 'true', 'false', 'null'),
  fc.constantFrom('"}"', '"{"', '"\\\\"', '"\\"}"', '"\\\\\\""', '"],\\"stream\\":1"'),
);

const keyText = fc.oneof(
  stringText,
  fc.constantFrom('"stream"', '"\\u0073tream"', '"a"', '"__proto__"', '"10"', '"2"', '""'),
);

interface Member {
  readonly key: string;
  /** Key, colon and value as written. */
  readonly text: string;
}

interface ObjectText {
  readonly text: string;
  readonly members: readonly Member[];
}

const { object, value } = fc.letrec<{ value: string; object: ObjectText }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalarText,
    tie('object').map(({ text }) => text),
    fc.array(fc.tuple(space, tie('value'), space), { maxLength: 3 }).map(listed),
  ),
  object: fc
    .array(
      fc.tuple(space, keyText, space, space, tie('value'), space).map((parts) => {
        const [before, key, beforeColon, afterColon, value, after] = parts;
        const text = `${key}${beforeColon}:${afterColon}${value}`;
        return { key: JSON.parse(key) as string, text, spaced: `${before}${text}${after}` };
      }),
      { maxLength: 5 },
    )
    .chain((members) =>
      space.map((inside) => ({
        text: `{${members.length === 0 ? inside : members.map(({ spaced }) => spaced).join(',')}}`,
        members,
      })),
    ),
}));

function listed(items: readonly (readonly [string, string, string])[]): string {
  return `[${items.map((parts) => parts.join('')).join(',')}]`;
}

const surrounded = fc
  .tuple(space, object, space)
  .map(([before, { text, members }, after]) => ({ text: before + text + after, members }));

describe('elementTexts', () => {
  const lists = fc.array(fc.tuple(space, value, space), { maxLength: 5 });

  it('gives the bytes of each element and nothing around it', () => {
    fc.assert(
      fc.property(lists, space, (items, around) => {
        const text = `${around}${listed(items)}${around}`;
        expect(elementTexts(text)).toEqual(items.map(([, element]) => element));
      }),
    );
  });
});

describe('memberText', () => {
  it('finds what JSON.parse finds, whatever the spelling', () => {
    fc.assert(
      fc.property(surrounded, ({ text }) => {
        const parsed = JSON.parse(text) as Record<string, unknown>;
        for (const key of Object.keys(parsed)) {
          expect(JSON.parse(memberText(text, key) as string)).toEqual(parsed[key]);
        }
      }),
    );
  });

  it('gives the bytes of the value and nothing around it', () => {
    fc.assert(
      fc.property(surrounded, ({ text, members }) => {
        for (const { key } of members) {
          const written = members.findLast((member) => member.key === key)?.text as string;
          const found = memberText(text, key) as string;
          expect(written.endsWith(found)).toBe(true);
          expect(found).toBe(found.trim());
        }
      }),
    );
  });

  it('finds nothing where there is nothing', () => {
    fc.assert(
      fc.property(surrounded, fc.string(), ({ text }, key) => {
        const there = Object.hasOwn(JSON.parse(text) as object, key);
        expect(memberText(text, key) !== undefined).toBe(there);
      }),
    );
  });

  it.each([
    ['{"n":12345678901234567890.10}', 'n', '12345678901234567890.10'],
    ['{"a":1,"a":[2]}', 'a', '[2]'],
    ['{"a":{"b":1},"b":2}', 'b', '2'],
    ['{"a":"\\"b\\":3","b":"\\\\"}', 'b', '"\\\\"'],
    ['\t{ "a" :\n{ "x" : [ ] } }', 'a', '{ "x" : [ ] }'],
  ])('reads %s', (text, key, value) => {
    expect(memberText(text, key)).toBe(value);
  });
});

describe('withoutMembers', () => {
  it('leaves every other member as it was written, in its place', () => {
    fc.assert(
      fc.property(surrounded, fc.func(fc.boolean()), ({ text, members }, chosen) => {
        const keys = new Set(members.map(({ key }) => key).filter((key) => chosen(key)));
        const kept = members.filter(({ key }) => !keys.has(key));
        expect(withoutMembers(text, keys)).toBe(`{${kept.map((member) => member.text).join(',')}}`);
      }),
    );
  });

  it('means the same as deleting the keys of the parsed object', () => {
    fc.assert(
      fc.property(surrounded, fc.func(fc.boolean()), ({ text }, chosen) => {
        const parsed = JSON.parse(text) as Record<string, unknown>;
        const keys = new Set(Object.keys(parsed).filter((key) => chosen(key)));
        const rest = Object.entries(parsed).filter(([key]) => !keys.has(key));
        const result = JSON.parse(withoutMembers(text, keys)) as object;
        expect(Object.entries(result)).toEqual(rest);
      }),
    );
  });

  it('takes out all of several members with one name, and none of the same name inside', () => {
    const text = '{"stream":true,"a":{"stream":1},"\\u0073tream" : false}';
    expect(withoutMembers(text, new Set(['stream']))).toBe('{"a":{"stream":1}}');
  });
});

describe('onOneLine', () => {
  it('takes out every line break and changes no value', () => {
    fc.assert(
      fc.property(surrounded, ({ text }) => {
        const line = onOneLine(text);
        expect(line).not.toMatch(/[\r\n]/);
        expect(line).toHaveLength(text.length);
        expect(JSON.parse(line)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('gives text without line breaks back as it is', () => {
    expect(onOneLine('{"a":"\\n\u2028"}')).toBe('{"a":"\\n\u2028"}');
  });
});

describe('withMember', () => {
  it.each([
    ['{}', '{"model":"b"}'],
    ['{ "model" : "a" }', '{"model":"b"}'],
    ['{"seed":12345678901234567890,"model":"a","n":{"model":"a"}}', undefined],
    ['{"2":1,"1":"x"}', '{"2":1,"1":"x","model":"b"}'],
    ['{"model":"a","x":1,"model":"c"}', '{"x":1,"model":"b"}'],
  ])('changes one member of %s and keeps the rest', (text, expected) => {
    const wanted = expected ?? '{"seed":12345678901234567890,"model":"b","n":{"model":"a"}}';
    expect(withMember(text, 'model', '"b"')).toBe(wanted);
  });
});

describe('the elements of an array', () => {
  it.each([
    ['[]', []],
    [' [ ] ', []],
    ['[1, "a]", {"b":[2]} ,\n[3,[4]],null]', ['1', '"a]"', '{"b":[2]}', '[3,[4]]', 'null']],
    ['[{"x":"\\"]"}]', ['{"x":"\\"]"}']],
  ])('of %s are their own text', (text, elements) => {
    expect(elementTexts(text)).toEqual(elements);
  });
});
