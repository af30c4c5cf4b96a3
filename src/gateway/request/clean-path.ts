import { GatewayError } from '../gateway-error.ts';

/** The target of a request: path and query, as they came. */
export interface CleanPath {
  /** Begins with a slash. */
  readonly path: string;
  /** Begins with a question mark, or is empty. */
  readonly query: string;
}

/** Some server on the way could read these as another path than we do. */
const tricks: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^(?!\/)/, 'no slash at its beginning'],
  [/[^\x21-\x7e]/, 'a character that is not allowed'],
  [/[\\#]/, 'a backslash or a fragment'],
  [/\/\//, 'an empty segment'],
  [/%(?![0-9a-f]{2})/i, 'a broken escape'],
  [/%(2f|5c|00)/i, 'an escaped slash'],
  [/(^|\/)(\.|%2e){1,2}(\/|$)/i, 'a dot segment'],
];

/** Clients use few paths many times. Those with a query are not kept: it may hold a credential. */
const known = new Map<string, CleanPath>();
const mostKnown = 1_000;
const longestKnown = 500;

/** Takes the target of a request apart; throws where its path is not plain. */
export function cleanPath(target: string): CleanPath {
  const before = known.get(target);
  if (before) return before;
  const at = target.indexOf('?');
  const path = at === -1 ? target : target.slice(0, at);
  const query = at === -1 ? '' : target.slice(at);
  const trick = tricks.find(([pattern]) => pattern.test(path));
  if (trick) throw new GatewayError('bad_path', `The path of the request holds ${trick[1]}.`);
  if (/[^\x21-\x7e]|#/.test(query)) {
    throw new GatewayError('bad_path', 'The query holds a character that is not allowed.');
  }
  const clean = { path, query };
  if (query === '' && path.length <= longestKnown) {
    if (known.size >= mostKnown) known.clear();
    known.set(target, clean);
  }
  return clean;
}
