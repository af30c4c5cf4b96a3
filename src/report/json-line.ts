/** Where and when a line comes from. */
export interface LineOrigin {
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** One line of `display: "json"`: the name of the event first, then where it comes from. */
export function jsonLine(event: string, { pid, time }: LineOrigin, fields: object): string {
  const line = JSON.stringify({ event, time: new Date(time).toISOString(), pid, ...fields });
  return `${line.replace(unsafe, escaped)}\n`;
}

/** JSON leaves them as they are, but they end a line or control a terminal. */
const unsafe = /[\u007f-\u009f\u2028\u2029]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
