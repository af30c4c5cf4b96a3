import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { against, answer, ok } from '../peer.ts';
import type { Step } from '../step.ts';
import { watch } from '../watch.ts';

const post = { method: 'POST', agent: false as const };
const large = 'x'.repeat(5_000_000);

export const bodies: Step[] = [
  {
    name: 'a body in pieces that are answered one by one',
    interactive: true,
    run: () =>
      against(
        (socket, text, answered) => {
          if (text.startsWith('POST'))
            socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
          if (text.endsWith('0\r\n\r\n')) socket.write('0\r\n\r\n');
          else socket.write('3\r\nack\r\n');
          answered();
        },
        async ({ url }) => {
          const upload = request(url, post);
          const over = watch(upload);
          let sent = 0;
          upload.on('response', (response) => {
            response.on('data', () => {
              sent += 1;
              if (sent < 4) upload.write(`piece ${sent}`);
              else if (sent === 4) upload.end();
            });
          });
          upload.write('first');
          return over;
        },
      ),
  },
  {
    name: 'a body in chunks with trailers both ways',
    run: () => {
      const head = 'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n';
      const chunks = '3;x=y\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n';
      return against(answer('0\r\nX-Sum: 9\r\n\r\n', head, chunks), async ({ url }) => {
        const upload = request(url, { ...post, headers: { Trailer: 'X-Sum' } });
        upload.write('äbc');
        upload.write(Buffer.from([0, 255, 13, 10]));
        upload.addTrailers({ 'X-Sum': '9' });
        return watch(upload.end('latin ü', 'latin1'));
      });
    },
  },
  {
    name: 'a response in many pieces',
    run: () => {
      const text = ok('abcdef', 'Connection: close');
      return against(answer('end', ...text), ({ url }) =>
        watch(request(url, { ...post, headers: { 'content-length': 3 } }).end('end')),
      );
    },
  },
  {
    name: 'a response that ends with its connection',
    run: () =>
      against(
        (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nto the end'),
        ({ url }) => watch(request(url, { ...post, headers: { 'content-length': 3 } }).end('end')),
      ),
  },
  {
    name: 'a large body both ways',
    run: async () => {
      const reaction = answer('end', ok(large, 'Connection: close'));
      const digest = (text: string | undefined) =>
        createHash('sha256')
          .update(text ?? '', 'latin1')
          .digest('hex');
      const result = (await against(reaction, async ({ url }) => {
        const headers = { 'content-length': large.length + 3 };
        const upload = request(url, { ...post, headers });
        const over = watch(upload);
        upload.write(large);
        upload.end('end');
        const { body, events, ...seen } = await over;
        return { ...seen, body: digest(body), events: events.filter((name) => name !== 'drain') };
      })) as { bytes: string[] };
      return { ...result, bytes: result.bytes.map(digest) };
    },
  },
];
