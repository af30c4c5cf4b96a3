import { against, codeOf, echo, type OnStream, type Place, seenOf, target } from '../http2-peer.ts';
import type { Step } from '../step.ts';

/** How sessions and streams of HTTP/2 end, and what may be asked of them then. */
export const http2Ends: Step[] = [
  {
    name: 'http2: a server that goes away while it answers',
    run: () =>
      against(
        (stream) => {
          stream.session?.goaway(0);
          setTimeout(() => {
            stream.respond({ ':status': 200 });
            stream.end('last');
          }, 30);
        },
        async ({ post, ...place }) => {
          const { session } = place;
          const last = seenOf(post().end('ask'));
          await new Promise((resolve) => session.once('goaway', resolve));
          const state = [session.closed, session.destroyed];
          return [state, codeOf(() => session.request(target)), await last, await closed(place)];
        },
      ),
  },
  {
    name: 'http2: a server that goes away with an error',
    run: () => endedBy((stream) => stream.session?.goaway(11)),
  },
  {
    name: 'http2: a stream that the server cancels without an answer',
    run: () =>
      against(
        (stream) => stream.close(8),
        async ({ post }) => unread(post().end('ask')),
      ),
  },
  {
    name: 'http2: a connection that breaks',
    run: () =>
      against(
        () => undefined,
        async ({ post, breakConnections, ...place }) => {
          const stream = post().end('ask');
          const seen = seenOf(stream);
          await new Promise((resolve) => stream.once('ready', resolve));
          setTimeout(breakConnections, 30);
          return [await seen, await closed(place)];
        },
      ),
  },
  ...([2, 'mine', undefined] as const).map((how) => ({
    name: `http2: a session that is destroyed in the middle: ${how}`,
    run: () =>
      against(
        (stream) => {
          stream.respond({ ':status': 200 });
          stream.write('first');
        },
        async ({ post, ...place }) => {
          const stream = post().end('ask');
          const cause = how === 'mine' ? new Error(how) : how;
          stream.once('data', () => place.session.destroy(cause as Error));
          return [await seenOf(stream), await closed(place)];
        },
      ),
  })),
  {
    name: 'http2: a session after its end',
    run: () =>
      against(echo, async ({ post, connections, ...place }) => {
        const { session } = place;
        await seenOf(post().end('ask'));
        session.destroy();
        await closed(place);
        const { socket, alpnProtocol } = session;
        const codes = [() => session.ping(() => undefined), () => session.settings({})].map(codeOf);
        session.setTimeout(1);
        session.on('connect', () => undefined);
        // What would be opened by this is there by now.
        await new Promise((resolve) => setTimeout(resolve, 30));
        return { hasSocket: socket !== undefined, alpnProtocol, codes, connections: connections() };
      }),
  },
  {
    name: 'http2: settings that are sent twice',
    run: () =>
      against(echo, async ({ post, session }) => {
        const acknowledged: number[] = [];
        session.settings({ initialWindowSize: 70_000 }, () => void acknowledged.push(1));
        session.settings({ enablePush: false }, () => void acknowledged.push(2));
        await seenOf(post().end('ask'));
        const { initialWindowSize, enablePush } = session.localSettings;
        return { acknowledged, initialWindowSize, enablePush };
      }),
  },
  {
    name: 'http2: a body that waits for 100-continue',
    run: () =>
      against(echo, async ({ post }) => {
        const stream = post({ expect: '100-continue' });
        let continued = 0;
        stream.on('continue', () => {
          continued += 1;
          stream.end('body');
        });
        return [await seenOf(stream), continued];
      }),
  },
  {
    name: 'http2: an answer that is pushed beside another',
    run: () =>
      against(
        (stream) => {
          stream.respond({ ':status': 200 });
          stream.pushStream({ ':path': '/pushed' }, (_error, pushed) => {
            pushed.respond({ ':status': 200 });
            pushed.end('pushed');
            stream.end('asked for');
          });
        },
        async ({ post, session }) => {
          const pushed = new Promise((resolve) =>
            session.once('stream', async (stream, { ':path': path }) => {
              let text = '';
              for await (const piece of stream) text += piece;
              resolve([path, text]);
            }),
          );
          return [await seenOf(post().end('ask')), await pushed];
        },
      ),
  },
];

function endedBy(onStream: OnStream): Promise<unknown> {
  return against(onStream, async ({ post, ...place }) => [
    await seenOf(post().end('ask')),
    await closed(place),
  ]);
}

async function closed({ session, told }: Pick<Place, 'session' | 'told'>): Promise<unknown> {
  if (!told.includes('close')) await new Promise((resolve) => session.once('close', resolve));
  return [session.closed, session.destroyed];
}

/** Of a stream whose answer nobody has begun to read. */
async function unread(stream: NodeJS.EventEmitter): Promise<unknown> {
  const told: string[] = [];
  for (const name of ['response', 'end', 'error']) stream.on(name, () => void told.push(name));
  await new Promise((resolve) => stream.once('close', resolve));
  return told;
}
