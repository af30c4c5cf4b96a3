import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { docsPage } from '../../base/docs-page.ts';
import { isDatabase, shownStore } from '../../base/store-address.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { PageServer } from '../../ui/page-server.ts';
import { exitCodes } from '../exit-codes.ts';
import { firstSignal } from '../interruptible.ts';
import { addListeningFlags, explained, readPort, tokenFor } from '../listening.ts';
import { usable } from '../print/gateway-text.ts';
import { print, printJson } from '../print/output.ts';
import { readCredentialFlags } from '../store/find-credential.ts';
import { addLedgerFlags, credentialFlag } from '../store/ledger-flags.ts';
import { type LedgerFlags, noLedger, openExisting, optionsFor } from '../store/open-store.ts';
import { PageWriter } from '../store/page-writer.ts';

interface UiFlags extends LedgerFlags {
  readonly port: string;
  readonly host: string;
  readonly token?: string;
  readonly write?: boolean;
  readonly credential?: readonly string[];
}

export function define(command: Command): void {
  addLedgerFlags(command);
  addListeningFlags(command, '8788', 'who reads must have it; without it one is made up')
    .option('--write', 'let the page cancel and collect batches')
    .addOption(credentialFlag())
    .addHelpText('after', examples)
    .action(ui);
}

const examples = `
Open the address that it prints: it holds the token. It works while programs run and when none does,
and does not slow them down.

Examples:
  $ batchling ui                                    the ledger of this machine
  $ batchling ui --store postgres://db/jobs         that of a fleet
  $ batchling ui --write                            with buttons to cancel and to collect
  $ BATCHLING_TOKEN=… batchling ui --host 0.0.0.0   for other machines

${docsPage('ui.md')} explains the page.`;

/** Serves the page until a signal ends it. */
async function ui(flags: UiFlags): Promise<void> {
  const { host } = flags;
  const port = readPort(flags.port);
  const token = tokenFor(host, flags.token) ?? randomBytes(18).toString('base64url');
  const named = readCredentialFlags(flags.credential);
  const options = await optionsFor(flags);
  const stop = firstSignal();
  const store = new LookedAt(options);
  // What is wrong with the store is told here, and not in the browser.
  await store.ledger();
  const starting = PageServer.start({
    port,
    host,
    token,
    store: shownStore(options.store),
    now: () => options.clock.now(),
    ledger: async () => (await store.ledger()) ?? noLedger(options),
    ...(flags.write && { actions: new PageWriter(options, named) }),
  });
  try {
    const server = await explained(starting, { port, host });
    await tell(`${usable(server.url)}#token=${encodeURIComponent(token)}`, flags, options);
    await stop;
    await server.close();
  } finally {
    await store.close();
  }
  process.exit(exitCodes.fine);
}

async function tell(url: string, { json, write }: UiFlags, { store }: ResolvedOptions) {
  if (json) return printJson({ url, store: shownStore(store) });
  await print([
    `The page on ${shownStore(store)}:`,
    '',
    `  ${url}`,
    '',
    write
      ? 'It can cancel and collect batches.'
      : 'It only reads; --write lets it cancel and collect.',
    'Whoever has this address can read all questions and answers. Stop it with Ctrl-C.',
  ]);
}

/** A ledger that may not be there yet, or be deleted while it is shown: it is looked for again until it is there. */
class LookedAt {
  readonly #options: ResolvedOptions;
  #opening: Promise<Ledger | undefined> | undefined;
  /** The file that was there when it was opened. */
  #file: number | undefined;

  constructor(options: ResolvedOptions) {
    this.#options = options;
  }

  async ledger(): Promise<Ledger | undefined> {
    const { store } = this.#options;
    const file = isDatabase(store) ? undefined : statSync(store, { throwIfNoEntry: false })?.ino;
    if (file !== this.#file) {
      // What is open is a file that nobody else can find any more.
      void this.close();
      this.#opening = undefined;
      this.#file = file;
    }
    this.#opening ??= openExisting(this.#options);
    const opening = this.#opening;
    const ledger = await opening.catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    if (ledger === undefined && this.#opening === opening) this.#opening = undefined;
    return ledger;
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => undefined))?.close();
  }
}
