/** Statuses with which a response has no body: `Response` refuses one, and an HTTP parser chokes on it. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
