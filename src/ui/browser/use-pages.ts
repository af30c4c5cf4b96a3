import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, noteTime, type Refusal, usePulse } from './server.ts';

/** Pages that hold nothing are passed over: a filter may fit old batches only. */
const mostEmpty = 40;

interface Shown<Item> {
  readonly items: readonly Item[];
  readonly next: number | undefined;
  readonly isBusy: boolean;
  readonly error?: Refusal;
}

/** A list that comes in pages. Its first page stays up to date while it is the only one. */
export function usePages<Page extends { readonly next?: number }, Item>(
  path: string,
  itemsOf: (page: Page) => readonly Item[],
  by = 'before',
) {
  const { beat } = usePulse();
  const nothing: Shown<Item> = { items: [], next: undefined, isBusy: true };
  const [shown, show] = useState(nothing);
  const asked = useRef(path);
  const pages = useRef(0);

  const load = async (from: number | undefined, before: readonly Item[]) => {
    asked.current = path;
    const items = [...before];
    let next = from;
    try {
      for (let empty = 0; empty < mostEmpty; empty += 1) {
        const page = await ask<Page>(withNext(path, by, next));
        if (asked.current !== path) return;
        noteTime(page);
        items.push(...itemsOf(page));
        next = page.next;
        if (next === undefined || items.length > before.length) break;
      }
      pages.current = from === undefined ? 1 : pages.current + 1;
      show({ items, next, isBusy: false });
    } catch (error) {
      if (asked.current !== path) return;
      // What was there stays to be seen; a first page that could not be read is asked for again.
      if (from === undefined) pages.current = 1;
      show((known) => ({ ...known, isBusy: false, error: error as Refusal }));
    }
  };

  useEffect(() => {
    pages.current = 0;
    show(nothing);
    void load(undefined, []);
  }, [path]);
  useEffect(() => {
    if (pages.current === 1) void load(undefined, []);
  }, [beat]);

  return {
    ...shown,
    isDone: !shown.isBusy && shown.next === undefined && shown.error === undefined,
    more() {
      show({ ...shown, isBusy: true });
      void load(shown.next, shown.items);
    },
  };
}

function withNext(path: string, by: string, next: number | undefined): string {
  if (next === undefined) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${by}=${next}`;
}
