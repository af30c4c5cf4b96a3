import type { Wire } from './wire.ts';

/** The same wire with another base: for APIs that stand beside the one that calls are made to. */
export function wireAt(wire: Wire, base: string): Wire {
  return {
    ...wire,
    base,
    send: (request) => {
      const { path } = request;
      return wire.send({ ...request, path: path.startsWith('/') ? `${base}${path}` : path });
    },
  };
}
