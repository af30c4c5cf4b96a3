import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { ClientRequest } from 'node:http';

/** Despite its name, Node tells this when the head of a response is there. */
const channel = 'http.client.response.finish';

interface ResponseMessage {
  readonly request: unknown;
  readonly response: { readonly statusCode?: number };
}

/**
 * The status of the response to a request, as soon as its head is there; `undefined` when none came.
 * It is not asked by a listener for `response`: a request that has none reads its response away, and
 * ours would keep it from that.
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
    // Before the client hears of it: its retry may follow at once.
    request.once(errorMonitor, onEnd).once('close', onEnd);
  });
}
