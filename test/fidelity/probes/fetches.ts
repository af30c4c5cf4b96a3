import { ok, startPeer } from '../peer.ts';
import { orSilence, type Probe } from './probe.ts';

type Post = (url: string) => Promise<unknown>;

/** Runs against a server that answers with the body that it got. */
async function echo(run: Post): Promise<unknown> {
  const peer = await startPeer((socket, text) => {
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    const start = text.indexOf('\r\n\r\n') + 4;
    if (start > 3 && text.length >= start + length) socket.end(ok(text.slice(start)));
  });
  try {
    return await orSilence(run(`http://127.0.0.1:${peer.port}`));
  } finally {
    await peer.close();
  }
}

/** Frames that lead from a program to Node, as they stand in a stack. */
function framesOf(error: unknown): string[] {
  const lines = String((error as Error).stack)
    .split('\n')
    .slice(1);
  return lines.map((line) =>
    line.includes('node:') ? 'node' : (/at (?:async )?(\w+)/.exec(line)?.[1] ?? 'module'),
  );
}

class Controller extends AbortController {
  reads = 0;
  override get signal(): AbortSignal {
    this.reads += 1;
    return super.signal;
  }
}

export const fetches: Probe[] = [
  {
    name: 'bytes that are changed right after `fetch`',
    run: () =>
      echo(async (url) => {
        const body = Buffer.from('before');
        const asked = fetch(`${url}/v1/messages`, { method: 'POST', body });
        body.fill('x');
        return (await asked).text();
      }),
  },
  {
    name: 'options of `fetch` with getters: what is read, in which order',
    run: () =>
      echo(async (url) => {
        const reads: string[] = [];
        const values: Record<string, unknown> = { method: 'POST', body: 'x' };
        const options = {};
        for (const name of ['method', 'headers', 'body', 'signal', 'duplex']) {
          Object.defineProperty(options, name, {
            enumerable: true,
            get() {
              reads.push(name);
              return values[name];
            },
          });
        }
        const text = await (await fetch(`${url}/v1/messages`, options)).text();
        return [text, ...reads];
      }),
  },
  {
    name: 'options of `fetch` in a Proxy: what is read more than once',
    run: () =>
      echo(async (url) => {
        const reads: PropertyKey[] = [];
        const options = new Proxy(
          { method: 'POST', body: 'x' },
          {
            get(target, name) {
              reads.push(name);
              return Reflect.get(target, name);
            },
          },
        );
        const text = await (await fetch(`${url}/v1/messages`, options)).text();
        return [text, ...reads.filter((name, at) => reads.indexOf(name) !== at)];
      }),
  },
  {
    name: 'a getter of the options of `fetch` that throws',
    run: () =>
      echo(async (url) => {
        const options = {
          get signal(): AbortSignal {
            throw new Error('not yours');
          },
        };
        const asked = fetch(url, options);
        return asked.then(String, ({ message }: Error) => `rejected: ${message}`);
      }),
  },
  {
    name: 'the stack of a `fetch` that fails',
    run: async () => {
      const ask = () => fetch('http://127.0.0.1:9/v1/messages', { method: 'POST' });
      return framesOf(await ask().catch((error: unknown) => error));
    },
  },
  {
    name: 'the stack of the cause of a `fetch` that fails',
    differs: 'one frame is that of the wrapper of `fetch`',
    run: async () => {
      const ask = () => fetch('http://127.0.0.1:9/v1/messages', { method: 'POST' });
      const error = await ask().catch((reason: unknown) => reason as Error);
      return framesOf((error as Error).cause).filter((frame) => frame !== 'node');
    },
  },
  {
    name: 'the stack of `abort()`',
    run: async () => {
      const controller = new AbortController();
      const stop = () => controller.abort();
      stop();
      return framesOf(controller.signal.reason).slice(0, 4);
    },
  },
  {
    name: '`abort()` of a controller with a `signal` of its own: reads of it',
    run: async () => {
      const controller = new Controller();
      controller.abort();
      return controller.reads;
    },
  },
];
