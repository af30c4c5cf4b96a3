const longest = 40;
export const notShown = '(not shown)';

// In doubt a value counts as secret: hiding a harmless one does little harm, printing a key does.
const secretPatterns = [
  /:\/\/[^/\s]*@/,
  /\b(?:sk|pk|rk|gsk|xai|hf|csk|tgp|nvapi)[-_]/i,
  /\b(?:AIza|AKIA|eyJ)/,
  /\b(?:bearer|basic)\s/i,
  /(?:key|token|secret|passw(?:or)?d|credential)\s*[=:]/i,
  /(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{20,}/i,
];

export function looksSecret(text: string): boolean {
  // The patterns are slow on long text, and long text does not help in a message.
  return text.length > 500 || secretPatterns.some((pattern) => pattern.test(text));
}

/** A bad value for a message: short, on one line, never one that could be a credential. */
export function show(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return showText(value);
    case 'object':
      return showObject(value);
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    default:
      return String(value);
  }
}

function showText(text: string): string {
  if (looksSecret(text)) return notShown;
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
}

function showObject(value: object | null): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (kind === 'Date') return Number.isNaN(Number(value)) ? 'an invalid Date' : 'a Date';
  return kind === 'Object' ? 'an object' : `an object (${kind})`;
}
