/** At least two significant digits, however small the amount is. */
export function dollars(value: number): string {
  if (value < 0) return `-${dollars(-value)}`;
  const digits = value > 0 && value < 1 ? Math.min(8, 1 - Math.floor(Math.log10(value))) : 2;
  return `$${value.toFixed(digits)}`;
}
