import type { Display, DisplayedScope, ScopeDisplay } from './display.ts';
import { jsonLine } from './json-line.ts';
import type { DisplayStream } from './terminal/terminal.ts';

/** One JSON object per line for each event; one that several scopes share is printed once. */
export class JsonDisplay implements Display {
  readonly #stream: DisplayStream;
  readonly #seen = new WeakSet<object>();

  constructor(stream: DisplayStream) {
    this.#stream = stream;
  }

  open({ stats }: DisplayedScope): ScopeDisplay {
    let isOpen = true;
    return {
      event: (event, payload) => isOpen && this.#once(event, payload),
      close: (note) => {
        isOpen = false;
        this.#write('closed', { stats, ...(note && { note }) });
      },
    };
  }

  #once(event: string, shared: object): void {
    if (this.#seen.has(shared)) return;
    this.#seen.add(shared);
    this.#write(event, shared);
  }

  #write(event: string, fields: object): void {
    this.#stream.write(jsonLine(event, { pid: process.pid, time: Date.now() }, fields));
  }
}
