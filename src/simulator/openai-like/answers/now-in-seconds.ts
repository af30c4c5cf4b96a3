export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
