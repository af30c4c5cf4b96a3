import { describe, expect, it } from 'vitest';
import { outlineOfObject } from './outline-of-object.ts';

const body =
  '{"model": "a\\"b", "n":1, "messages":[{"model":"inner, x"}],"ok":true,"tail":{"z":1}}';

describe('the outline of a JSON object', () => {
  it('has its own members, and none of what is inside of them', () => {
    expect({ ...outlineOfObject(body) }).toEqual({
      model: 'a\\"b',
      n: null,
      messages: [],
      ok: null,
      tail: {},
    });
  });

  it('is that of the beginning where the text is cut off, wherever that is', () => {
    const whole = Object.keys(outlineOfObject(body) ?? {});
    for (let length = 1; length < body.length; length += 1) {
      const names = Object.keys(outlineOfObject(body.slice(0, length)) ?? {});
      expect(names).toEqual(whole.slice(0, names.length));
    }
    expect(outlineOfObject('{"model":"m","messages":[{"ro')).toMatchObject({ messages: [] });
  });

  it('is undefined for what is not an object', () => {
    for (const text of ['', '[{"model":"m"}]', '"model"', 'model=x', '12']) {
      expect(outlineOfObject(text)).toBeUndefined();
    }
  });
});
