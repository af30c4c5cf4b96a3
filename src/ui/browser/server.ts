import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChangedJson } from '../api-types.ts';
import { unescaped } from './route.ts';

/** What the server has refused, in its words. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const stored = 'batchling-token';

/** The address that the command has printed holds the token; it does not stay in the history of the browser. */
export function takeToken(): boolean {
  const token = tokenIn(location.hash);
  if (token === undefined) return false;
  keepToken(token);
  history.replaceState(null, '', '#/');
  return true;
}

/** The token of an address. */
export function tokenIn(address: string): string | undefined {
  const [, token] = /#token=(.+)$/.exec(address.trim()) ?? [];
  return token && unescaped(token);
}

export function hasToken(): boolean {
  return sessionStorage.getItem(stored) !== null;
}

/** A tab that was opened from another one has nothing of its storage: it asks the others for the token. */
export function shareToken(): void {
  const tabs = new BroadcastChannel(stored);
  tabs.onmessage = ({ data }: MessageEvent<string>) => {
    const token = sessionStorage.getItem(stored);
    if (data === '' && token !== null && connection === 'live') tabs.postMessage(token);
    if (data === '' || token !== null) return;
    keepToken(data);
    beatNow();
  };
  if (sessionStorage.getItem(stored) === null) tabs.postMessage('');
}

export function keepToken(token: string): void {
  sessionStorage.setItem(stored, token);
}

/** A reader that sleeps may wake up with a connection on which nothing comes any more. */
const patience = 30_000;

export async function ask<T>(path: string, method = 'GET'): Promise<T> {
  const token = sessionStorage.getItem(stored) ?? '';
  const silence = new AbortController();
  // What changes something takes as long as it takes.
  const timer = method === 'GET' ? setTimeout(() => silence.abort(), patience) : undefined;
  try {
    const headers = { 'x-batchling-token': token };
    const response = await fetch(`api/${path}`, { method, headers, signal: silence.signal });
    if (response.ok) return (await response.json()) as T;
    const said = (await response.json().catch(() => undefined)) as { error?: { message?: string } };
    const { status } = response;
    throw new Refusal(status, said?.error?.message ?? `The server said ${status}.`);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(
      0,
      'The server of this page cannot be reached. Is the command still running?',
    );
  } finally {
    clearTimeout(timer);
  }
}

export type Connection = 'live' | 'lost' | 'refused';

/** How often the server is asked whether something has changed, and how often what is shown is fetched anyway. */
const every = 2_000;
const atLeastEvery = 10_000;
/** The sums of a large ledger may be five seconds old: for so long after a change they are asked for again. */
const settlesIn = 6_500;

const heard = new Set<() => void>();
let beats = 0;
let connection: Connection = 'live';
let version: number | undefined;
let beatAt = 0;
let changedAt = 0;

/** Begins to ask whether something has changed; a page that nobody sees does not ask. */
export function startPulse(): () => void {
  let isAsking = false;
  const look = async () => {
    if (document.hidden || isAsking) return;
    isAsking = true;
    const before = connection;
    let changed = Date.now() - beatAt > atLeastEvery;
    try {
      const now = await ask<ChangedJson>('changed');
      if (now.version !== version) changedAt = Date.now();
      changed ||= Date.now() - changedAt < settlesIn;
      version = now.version;
      connection = 'live';
    } catch (error) {
      connection = error instanceof Refusal && error.status === 401 ? 'refused' : 'lost';
    }
    isAsking = false;
    if (changed && connection === 'live') {
      beats += 1;
      beatAt = Date.now();
    }
    if (changed || before !== connection) for (const tell of heard) tell();
  };
  const timer = setInterval(look, every);
  const onSeen = () => void look();
  document.addEventListener('visibilitychange', onSeen);
  void look();
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', onSeen);
  };
}

export function beatNow(): void {
  beats += 1;
  for (const tell of heard) tell();
}

/** Changes whenever something may have been written. */
export function usePulse(): { readonly beat: number; readonly connection: Connection } {
  const [, again] = useState(0);
  useEffect(() => {
    const tell = () => again((count) => count + 1);
    heard.add(tell);
    return () => void heard.delete(tell);
  }, []);
  return { beat: beats, connection };
}

export interface Asked<T> {
  readonly value?: T;
  readonly error?: Refusal;
}

/** The answer to a question to the server, asked again when something has changed. */
export function useAnswer<T>(path: string): Asked<T> {
  const { beat } = usePulse();
  const [shown, show] = useState<Asked<T> & { path: string }>({ path });
  const asking = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (asking.current === path) return;
    asking.current = path;
    const settle = (answer: Asked<T>) => {
      if (asking.current !== path) return;
      asking.current = undefined;
      // What was there stays to be seen where it cannot be read anew.
      const kept = (before: Asked<T> & { path: string }) =>
        before.path === path && before.value !== undefined && !answer.value
          ? { value: before.value }
          : {};
      show((before) => ({ path, ...kept(before), ...answer }));
    };
    ask<T>(path).then(
      (value) => {
        noteTime(value);
        settle({ value });
      },
      (error: Refusal) => settle({ error }),
    );
  }, [path, beat]);
  return shown.path === path ? shown : {};
}

let skew = 0;

/** The clock of the server: that of the browser may be another one. */
export function serverNow(): number {
  return Date.now() + skew;
}

export function noteTime(value: unknown): void {
  const { at } = (value ?? {}) as { at?: unknown };
  if (typeof at === 'number') skew = at - Date.now();
}
