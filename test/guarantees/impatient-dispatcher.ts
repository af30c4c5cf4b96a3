import { Agent, type Dispatcher } from 'undici';

/** Gives a silent server a moment instead of half a minute. */
export function impatientDispatcher(): Dispatcher {
  const patience = { headersTimeout: 100, bodyTimeout: 100 };
  return new Agent({ pipelining: 1 }).compose((dispatch) => (options, handler) => {
    return dispatch({ ...options, ...patience }, handler);
  });
}
