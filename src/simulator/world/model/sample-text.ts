import type { JsonObject } from '../../server/json.ts';

const formats: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '2f1e4c7a-9b0d-4e6f-8a3b-5c7d9e0f1a2b',
  uri: 'https://example.com/',
  url: 'https://example.com/',
};

/** Tried where a pattern wants something else than a sentence. */
const shortTexts = [
  'a',
  'A',
  'abc',
  'ABC',
  'Abc',
  '1',
  '12',
  '123',
  '12345',
  '1.5',
  '12:00:00',
  '#aabbcc',
];

/** The text within the limits of the schema, or one of its format; null if no pattern matches. */
export function sampleText(schema: JsonObject, text: string): string | null {
  const { format, pattern, minLength, maxLength } = schema;
  const ofFormat = formats[String(format)];
  if (typeof pattern === 'string') {
    const expression = readPattern(pattern);
    const tried = [ofFormat, text, ...shortTexts, ...Object.values(formats)];
    return tried.find((one) => one !== undefined && expression?.test(one)) ?? null;
  }
  if (ofFormat !== undefined) return ofFormat;
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  const least = typeof minLength === 'number' ? minLength : 0;
  return text.slice(0, most).padEnd(least, '.');
}

/** Patterns of other languages are not always ours. */
function readPattern(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return null;
  }
}
