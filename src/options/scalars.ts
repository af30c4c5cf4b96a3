import { allowedDuration, formatDuration, parseDuration } from '../base/duration.ts';
import { type Form, refuse } from './form.ts';

// Node fires longer timers at once (2^31 milliseconds are 24.8 days).
const longestTimer = 24 * 86_400_000;

export function integer(minimum: number): Form<number> {
  return {
    allowed: `an integer of at least ${minimum}`,
    placeholder: 'number',
    read: readNumber,
    parse: (value) => {
      if (!Number.isSafeInteger(value) || (value as number) < minimum) refuse(value);
      return value as number;
    },
  };
}

export const dollars: Form<number> = {
  allowed: 'dollars, as a number above 0 (in text also "$5")',
  placeholder: 'dollars',
  read: (text) => readNumber(text.replace(/^\$\s*(?=[\d.])/, '')),
  parse: (value) => {
    if (typeof value !== 'number' || !(value > 0 && value < Number.POSITIVE_INFINITY)) {
      refuse(value);
    }
    return value;
  },
};

function readNumber(text: string): unknown {
  return /^-?(\d+(\.\d+)?|\.\d+)$/.test(text) ? Number(text) : text;
}

const words = new Map([
  ['1', true],
  ['true', true],
  ['yes', true],
  ['0', false],
  ['false', false],
  ['no', false],
]);

export const flag: Form<boolean> = {
  allowed: 'true or false (in text also 1, 0, yes, no)',
  read: (text) => words.get(text.toLowerCase()) ?? text,
  parse: (value) => (typeof value === 'boolean' ? value : refuse(value)),
};

/** A flag with one more choice. */
export function flagOr<const Choice extends string>(choice: Choice): Form<boolean | Choice> {
  return {
    allowed: `true, false or "${choice}" (in text also 1, 0, yes, no)`,
    read: (text) => words.get(text.toLowerCase()) ?? text,
    parse: (value) =>
      typeof value === 'boolean' || value === choice ? (value as Choice) : refuse(value),
  };
}

export const canary: Form<false | 'call' | 'batch'> = {
  allowed: 'true, false, "call" or "batch" (in text also 1, 0, yes, no)',
  read: (text) => words.get(text.toLowerCase()) ?? text,
  parse: (value) => {
    if (value === true) return 'call';
    return value === false || value === 'call' || value === 'batch' ? value : refuse(value);
  },
};

export function choice<const Choice extends string>(...choices: readonly Choice[]): Form<Choice> {
  return {
    allowed: choices.map((name) => `"${name}"`).join(', '),
    placeholder: choices.join('|'),
    read: (text) => text,
    parse: (value) => choices.find((name) => name === value) ?? refuse(value),
  };
}

export function duration(least: 0 | 'above 0', most = Number.MAX_SAFE_INTEGER): Form<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? '' : `, at most ${formatDuration(most)}`;
  return {
    allowed: `${allowedDuration}${least === 0 ? '' : '; above 0'}${upTo}`,
    placeholder: 'duration',
    read: (text) => text,
    parse: (value) => {
      const parsed = durationOf(value);
      return parsed > most || (least !== 0 && parsed === 0) ? refuse(value) : parsed;
    },
  };
}

/** A duration that a timer waits for. */
export const timer = (least: 0 | 'above 0'): Form<number> => duration(least, longestTimer);

function durationOf(value: unknown, shown = value): number {
  try {
    return parseDuration(value as number | string);
  } catch {
    return refuse(shown);
  }
}

export interface PollRange {
  readonly minimum: number;
  readonly maximum: number;
}

export const pollRange: Form<PollRange> = {
  allowed: `a duration or a range "10s..60s", above 0, at most ${formatDuration(longestTimer)}`,
  placeholder: 'duration',
  read: (text) => text,
  parse: (value) => {
    const ends = typeof value === 'string' ? value.split('..') : [value];
    const [minimum, maximum = minimum, more] = ends.map((end) => durationOf(end, value));
    if (minimum === undefined || maximum === undefined || more !== undefined) return refuse(value);
    if (minimum === 0 || maximum > longestTimer) return refuse(value);
    if (minimum > maximum) refuse(value, 'the first is larger than the second');
    return { minimum, maximum };
  },
};

export const deadline: Form<number | Date> = {
  allowed: `${allowedDuration}; above 0; or a valid Date`,
  placeholder: 'duration',
  read: (text) => text,
  parse: (value, context) => {
    if (Object.prototype.toString.call(value) !== '[object Date]') {
      return duration('above 0').parse(value, context);
    }
    const time = Number(value);
    return Number.isNaN(time) ? refuse(value) : new Date(time);
  },
};

const byteUnits = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

export const bytes: Form<number> = {
  allowed: 'a whole number of bytes above 0, or text such as "500MB", "2GB"',
  placeholder: 'size',
  read: (text) => text,
  parse: (value) => {
    const size = typeof value === 'string' ? readBytes(value.trim()) : value;
    return Number.isSafeInteger(size) && (size as number) > 0 ? (size as number) : refuse(value);
  },
};

function readBytes(text: string): number {
  const [, amount, unit = 'B'] = /^(\d+(?:\.\d+)?) ?([KMGT]?B)?$/i.exec(text) ?? [];
  return Math.round(Number(amount) * byteUnits[unit.toUpperCase() as keyof typeof byteUnits]);
}
