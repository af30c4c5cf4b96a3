import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { type RawServer, startRawServer } from '../servers/raw-server.ts';
import { ClientResults } from './client-results.ts';

/** A client whose calls are not batched. */
export interface PassThroughAdapter {
  readonly name: string;
  readonly packages: readonly string[];
  /** Its calls are seen to be LLM calls, whatever their host is. */
  readonly isReported: boolean;
  /** Why they are not; without it because of the provider. */
  readonly why?: string;
  /** Asks the server at this origin; what it answers makes no sense to the client. */
  ask(origin: string): Promise<unknown>;
}

const untouched = 'its calls pass through untouched, byte for byte.';

/** Inside a scope its requests must be on the wire as they are outside of one. */
export function passThroughCases(adapter: PassThroughAdapter): void {
  const { name, packages, isReported, ask, why = 'Its provider is not batched' } = adapter;
  const results = new ClientResults(name, packages);
  let server: RawServer;

  /** The bytes of one call. */
  async function bytesOf(work: () => Promise<unknown>): Promise<string[]> {
    await work().catch(() => undefined);
    return server.take();
  }

  describe(name, () => {
    beforeAll(async () => {
      server = await startRawServer();
    });
    afterAll(async () => {
      await results.write();
      await server.close();
    });

    it('passes through a scope untouched, byte for byte', () =>
      results.judge(
        'captured',
        async () => {
          const origin = `http://127.0.0.1:${server.port}`;
          const outside = await bytesOf(() => ask(origin));
          const scope = batchify({
            // The host is one that batchling watches; the path is not.
            hosts: { [`${origin}/v1`]: 'openai' },
            store: ':memory:',
          });
          const inside = await bytesOf(() => scope.run(() => ask(origin)));
          await scope.close();
          expect(outside).toHaveLength(1);
          expect(inside).toEqual(outside);
          expect(scope.stats).toMatchObject({ captured: 0, bypassed: isReported ? 1 : 0 });
        },
        'no',
        `${why}; ${untouched}${isReported ? ' That is reported.' : ''}`,
      ));
  });

  for (const column of ['timeout', 'abort', 'stream', 'errors'] as const) {
    results.note(column, 'n.a.');
  }
}
