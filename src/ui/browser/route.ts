import { useEffect, useState } from 'preact/hooks';

/** What the page shows, as the part of its address after `#/` says. */
export interface Route {
  readonly screen: string;
  readonly id: string;
  readonly query: URLSearchParams;
}

function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen = '', ...rest] = path.split('/');
  return { screen, id: unescaped(rest.join('/')), query: new URLSearchParams(query) };
}

export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A broken escape leads to an id that the ledger does not have, or is no token.
    return text;
  }
}

/** The query of the address as it is now, which may be ahead of what is shown. */
export function queryNow(): URLSearchParams {
  return routeOf(location.hash).query;
}

export function useRoute(): Route {
  const [route, set] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const onChange = () => set(routeOf(location.hash));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}

/** An address within the page. Values that are empty are left out. */
export function href(
  screen: string,
  id = '',
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const values = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  const text = new URLSearchParams(values).toString();
  return `#/${screen}${id && `/${encodeURIComponent(id)}`}${text && `?${text}`}`;
}

export function go(address: string): void {
  location.hash = address;
}
