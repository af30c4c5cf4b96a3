const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export function number(value: number): string {
  return value.toLocaleString('en-US');
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** `$0.0012`, `$0.010`, `$3.40`, `$1,204`. */
export function dollars(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '$0';
  const digits = size >= 1_000 ? 0 : size >= 0.1 ? 2 : size >= 0.01 ? 3 : 4;
  return `${value < 0 ? '-' : ''}${size < 0.00005 ? '<$0.0001' : dollarsWith(digits, size)}`;
}

export function dollarsWith(digits: number, value: number): string {
  const sizes = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `$${value.toLocaleString('en-US', sizes)}`;
}

/** Dollars of calls; where none of them has a known price, that is not $0. */
export function known(
  { calls, unpriced }: { readonly calls: number; readonly unpriced: number },
  amount: number,
): string {
  return unpriced === calls ? 'unknown' : dollars(amount);
}

/** Two units at most: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function lasting(milliseconds: number): string {
  const time = Math.max(0, milliseconds);
  if (time < minute) return `${Math.round(time / 1_000)} s`;
  if (time < hour) return `${Math.round(time / minute)} min`;
  if (time < day)
    return together(Math.floor(time / hour), 'h', Math.round((time % hour) / minute), 'min', 60);
  return together(Math.floor(time / day), 'd', Math.round((time % day) / hour), 'h', 24);
}

function together(large: number, one: string, small: number, other: string, full: number): string {
  if (small === full) return `${large + 1} ${one}`;
  return small === 0 ? `${large} ${one}` : `${large} ${one} ${small} ${other}`;
}

export function moment(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** `bl_7c1f0a52…`: enough to tell batches apart. */
export function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 11)}…` : id;
}

export function bytes(characters: number): string {
  if (characters < 1_000) return `${characters} B`;
  return characters < 1_000_000
    ? `${Math.round(characters / 1_000)} kB`
    : `${(characters / 1_000_000).toFixed(1)} MB`;
}
