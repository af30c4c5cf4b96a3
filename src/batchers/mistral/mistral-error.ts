/** An error as Mistral's API tells it; its SDK shows the whole body. */
export function mistralError(type: string, message: string): string {
  return JSON.stringify({ object: 'error', message, type, param: null, code: type });
}
