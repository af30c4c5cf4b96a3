import type { Dict } from '../base/types.ts';
import { type Form, isRecord, readPairs, refuse, refuseUnseen } from './form.ts';
import { show } from './shown-value.ts';

const longestName = 64;
const longestValue = 512;
const mostTags = 12;

export const name: Form<string> = {
  allowed: `one line of 1 to ${longestName} characters`,
  read: (text) => text,
  parse: (value) => (isLine(value, longestName) && value.trim() !== '' ? value : refuse(value)),
};

export const tags: Form<Dict> = {
  allowed:
    `an object of at most ${mostTags} texts, keys of 1 to ${longestName} characters, ` +
    `values of at most ${longestValue}, each on one line (in text key=value,key=value)`,
  read: (text) => readPairs(text, 'first'),
  parse: (value) => {
    if (!isRecord(value)) return refuse(value);
    const entries = Object.entries(value);
    if (entries.length > mostTags) refuse(value, `${entries.length} tags`);
    for (const [key, text] of entries) {
      if (key === '' || !isLine(key, longestName)) refuse(key, 'as a key');
      if (!isLine(text, longestValue)) refuseUnseen(`the value of ${show(key)}`);
    }
    return Object.fromEntries(entries) as Dict;
  },
};

// Names and tags are printed in lists: no line breaks, no terminal escapes.
function isLine(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest && !/\p{Cc}/u.test(value);
}
