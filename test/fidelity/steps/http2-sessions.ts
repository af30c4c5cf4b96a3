import http2 from 'node:http2';
import { against, codeOf, echo, listen, seenOf, target } from '../http2-peer.ts';
import type { Step } from '../step.ts';

export const http2Sessions: Step[] = [
  {
    name: 'http2: a request with a body in pieces',
    run: () =>
      against(echo, async ({ post }) => {
        const stream = post({ 'x-mine': 'yes' });
        stream.write('one ');
        stream.write(Buffer.from('two '));
        stream.end('three');
        return seenOf(stream);
      }),
  },
  {
    name: 'http2: an answer with trailers',
    run: () =>
      against(
        (stream) => {
          stream.respond({ ':status': 201 }, { waitForTrailers: true });
          stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }));
          stream.end('body');
        },
        async ({ post }) => seenOf(post().end('ask')),
      ),
  },
  {
    name: 'http2: an answer without a body',
    run: () =>
      against(
        (stream) => stream.respond({ ':status': 404 }, { endStream: true }),
        async ({ post }) => seenOf(post().end('ask')),
      ),
  },
  {
    name: 'http2: a megabyte both ways',
    run: () => against(echo, async ({ post }) => seenOf(post().end('x'.repeat(1_000_000)))),
  },
  {
    name: 'http2: several requests of one session',
    run: () =>
      against(echo, async ({ session, post }) => {
        const get = session.request({ ':path': '/other' });
        const streams = [post().end('one'), get, post().end('two')];
        return Promise.all(streams.map(seenOf));
      }),
  },
  {
    name: 'http2: a stream that the server resets',
    run: () =>
      against(
        (stream) => stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM),
        async ({ post }) => seenOf(post().end('ask')),
      ),
  },
  {
    name: 'http2: an answer that the client ends',
    run: () =>
      against(
        (stream) => {
          stream.respond({ ':status': 200 });
          stream.write('first');
        },
        async ({ post }) => {
          const stream = post().end('ask');
          stream.once('data', () => stream.close(http2.constants.NGHTTP2_CANCEL));
          return seenOf(stream);
        },
      ),
  },
  {
    name: 'http2: a session that the server ends',
    run: () =>
      against(
        (stream) => {
          stream.respond({ ':status': 200 });
          stream.end('last');
          stream.session?.close();
        },
        async ({ post, session }) => {
          const seen = await seenOf(post().end('ask'));
          if (!session.destroyed) await new Promise((resolve) => session.once('close', resolve));
          return [seen, session.closed, session.destroyed];
        },
      ),
  },
  {
    name: 'http2: nobody at the address',
    async run() {
      const session = http2.connect('http://127.0.0.1:1');
      const told = listen(session, ['error', 'close']);
      const stream = session.request(target).end('ask');
      return [await seenOf(stream), told];
    },
  },
  {
    name: 'http2: a session that is listened to',
    run: () =>
      against(echo, async ({ session }) => {
        const connected = await new Promise((resolve) =>
          session.once('connect', (told: unknown) => resolve(told === session)),
        );
        const settings = await new Promise<object>((resolve) =>
          session.once('remoteSettings', resolve),
        );
        const pong = await new Promise((resolve) =>
          session.ping(Buffer.from('12345678'), (error, _time, payload) =>
            resolve([error, payload.toString()]),
          ),
        );
        const { encrypted, alpnProtocol, type, connecting } = session;
        return [connected, settings, pong, { encrypted, alpnProtocol, type, connecting }];
      }),
  },
  {
    name: 'http2: a request of a session that was closed',
    run: () =>
      against(echo, async ({ session, post }) => {
        const stream = post().end('last');
        const last = seenOf(stream);
        await new Promise((resolve) => stream.once('response', resolve));
        const isClosed = new Promise<void>((resolve) => session.close(() => resolve()));
        const codes: unknown[] = [codeOf(() => session.request(target))];
        const seen = await last;
        await isClosed;
        codes.push(codeOf(() => session.request(target)));
        return { codes, seen, destroyed: session.destroyed };
      }),
  },
];
