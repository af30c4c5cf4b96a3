import type { Display, DisplayedScope, ScopeDisplay } from './display.ts';
import type { DisplayStream } from './terminal.ts';

/** One JSON object per line for each event and notice; one that several scopes share is printed once. */
export class JsonDisplay implements Display {
  readonly #stream: DisplayStream;
  readonly #seen = new WeakSet<object>();

  constructor(stream: DisplayStream) {
    this.#stream = stream;
  }

  open({ stats }: DisplayedScope): ScopeDisplay {
    let isOpen = true;
    return {
      event: (event, payload) => isOpen && this.#once(payload, { event, ...payload }),
      notice: (notice) => isOpen && this.#once(notice, { event: 'notice', ...notice }),
      close: (note) => {
        isOpen = false;
        this.#write({ event: 'closed', stats, ...(note && { note }) });
      },
    };
  }

  #once(shared: object, record: object): void {
    if (this.#seen.has(shared)) return;
    this.#seen.add(shared);
    this.#write(record);
  }

  #write(record: object): void {
    this.#stream.write(`${JSON.stringify(record)}\n`);
  }
}
