/** What the test gave to this program. */
export function readInput<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T;
}
