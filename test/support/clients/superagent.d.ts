/** As much of superagent as the tests use; the package brings no types. */
declare module 'superagent' {
  interface Request extends PromiseLike<{ readonly body: unknown }> {
    set(headers: Record<string, string>): this;
    send(body: unknown): this;
    timeout(milliseconds: number): this;
    retry(count: number): this;
    abort(): this;
  }
  const superagent: { post(url: string): Request };
  export default superagent;
}
