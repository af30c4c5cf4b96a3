import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { chatRequest } from '../ask.ts';

/** One attempt of a client that waits for `patience` milliseconds at most, in its own way. */
export type Attempt = (url: string, patience: number, send: typeof fetch) => Promise<unknown>;

const init = () => chatRequest('impatient');

/** The way of promptfoo and many others: the promise that the caller holds is rejected by the timer. */
const rejects: Attempt = (url, patience, send) =>
  new Promise((resolve, reject) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      controller.abort();
      reject(new Error('timed out'));
    }, patience);
    send(url, { ...init(), signal: controller.signal }).then((response) => {
      clearTimeout(timer);
      resolve(response.json());
    }, reject);
  });

/** It gives up by its own promise, and its signal ends the call. */
const racing =
  (signalFor: (patience: number) => AbortSignal, wrap = wrapNothing): Attempt =>
  async (url, patience, send) => {
    const signal = signalFor(patience);
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), patience));
    const response = await Promise.race([send(...wrap(url, { ...init(), signal })), late]);
    return (response as Response).json();
  };

type Call = [input: string | Request, init?: RequestInit];

function wrapNothing(url: string, given: RequestInit): Call {
  return [url, given];
}

function asRequest(url: string, given: RequestInit): Call {
  return [new Request(url, given)];
}

function ownTimer(patience: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), patience);
  return controller.signal;
}

const never = new AbortController();

function joined(patience: number): AbortSignal {
  return AbortSignal.any([never.signal, AbortSignal.timeout(patience)]);
}

/** It destroys its socket. */
const destroys: Attempt = (url, patience) =>
  new Promise((resolve, reject) => {
    const { method, headers, body } = init();
    const sent = request(url, { method, headers }, (response) => {
      clearTimeout(timer);
      resolve(json(response));
    });
    const timer = setTimeout(() => sent.destroy(), patience);
    sent.on('error', reject);
    sent.end(body);
  });

/** All the ways to give up that can be seen. */
export const waysToGiveUp: readonly (readonly [name: string, Attempt])[] = [
  ['a timer that aborts its controller and rejects', rejects],
  ['a timer that aborts its controller', racing(ownTimer)],
  ['AbortSignal.timeout', racing(AbortSignal.timeout)],
  ['AbortSignal.any of a timeout and another signal', racing(joined)],
  ['a Request with AbortSignal.timeout', racing(AbortSignal.timeout, asRequest)],
  ['a Request with the signal of a controller', racing(ownTimer, asRequest)],
  ['a Request with AbortSignal.any', racing(joined, asRequest)],
];

export const destroyedSocket = ['a request of node:http that it destroys', destroys] as const;
