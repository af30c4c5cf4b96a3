import type { FailureLog } from '../../best-effort.ts';
import type { Client } from './driver.ts';

export interface PulseSettings {
  /** A new client that is not connected yet. */
  readonly client: () => Client;
  /** SQL that comes before anything else. */
  readonly setUp: string;
  readonly channel: string;
  /** See `StoreSettings`. */
  readonly name: string;
  /** Milliseconds between two heartbeats. */
  readonly every: number;
  readonly log: FailureLog;
  readonly beat: (client: Client) => Promise<void>;
}

const RECONNECT_AFTER = 1_000;

/**
 * A connection of its own that renews the leases of owners and hears of what other processes have
 * written. It keeps no process alive. While it is broken, every reconnection counts as a change,
 * because a notification may have been missed.
 */
export class Pulse {
  readonly #settings: PulseSettings;
  #client: Client | undefined;
  #connecting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #changes = 0;

  constructor(settings: PulseSettings) {
    this.#settings = settings;
  }

  /** Throws if there is no connection; starting again is a no-op. */
  async start(): Promise<void> {
    this.#timer ??= setInterval(() => this.#beat(), this.#settings.every).unref();
    await this.#connect();
  }

  /** Makes `changed` differ. */
  touch(): void {
    this.#changes += 1;
  }

  changed(): number {
    return this.#changes;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  #connect(): Promise<void> {
    if (this.#client || this.#stopped) return Promise.resolve();
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    const { setUp, channel, name } = this.#settings;
    const client = this.#settings.client();
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, 'it has ended'));
    client.on('notification', ({ payload }) => {
      if (payload !== name) this.touch();
    });
    try {
      await client.connect();
      await client.query(`${setUp}; LISTEN ${channel}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    if (this.#stopped) return client.end();
    // The types of the driver leave it out.
    (client as Client & { unref(): void }).unref();
    this.#client = client;
    this.touch();
  }

  #lost(client: Client, why: unknown): void {
    if (this.#client !== client) return;
    this.#settings.log('keep the connection that renews the leases', why);
    this.#client = undefined;
    this.touch();
    client.end().catch(() => {});
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    if (this.#stopped) return;
    setTimeout(() => {
      this.#connect()
        .then(() => this.#beat())
        .catch((error: unknown) => {
          this.#settings.log('connect again to renew the leases', error, 'debug');
          this.#reconnectLater();
        });
    }, RECONNECT_AFTER).unref();
  }

  #beat(): void {
    const client = this.#client;
    if (client) this.#settings.beat(client).catch((error: unknown) => this.#lost(client, error));
  }
}
