import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { ClientRequest } from 'node:http';

/** Despite its name, Node publishes this when the head of a response has arrived. */
const channel = 'http.client.response.finish';

interface ResponseMessage {
  readonly request: unknown;
  readonly response: { readonly statusCode?: number };
}

/**
 * The status of the response to a request as soon as its head has arrived; `undefined` when no
 * response came. A listener for `response` would not do: Node discards the body of a response only
 * where the request has no such listener.
 */
export function responseStatus(request: ClientRequest): Promise<number | undefined> {
  return new Promise((resolve) => {
    const settle = (status: number | undefined) => {
      unsubscribe(channel, onResponse);
      request.off(errorMonitor, onEnd).off('close', onEnd);
      resolve(status);
    };
    const onEnd = () => settle(undefined);
    const onResponse = (message: unknown) => {
      const { request: answered, response } = message as ResponseMessage;
      if (answered === request) settle(response.statusCode);
    };
    if (request.destroyed) {
      resolve(undefined);
      return;
    }
    subscribe(channel, onResponse);
    // `errorMonitor` comes before the client's own listeners, whose retry may follow at once.
    request.once(errorMonitor, onEnd).once('close', onEnd);
  });
}
