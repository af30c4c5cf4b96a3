import type { Wire } from '../../http/wire.ts';
import { type Exchange, exchangeOf, keptReply, pathBelow } from './recording.ts';
import type { Redactor } from './redactor.ts';

/** A wire that remembers which requests went out, what came back, and how far the clocks are apart. */
export interface RecordingWire extends Wire {
  /** `POST /batches 200`, each kind once, with how often. */
  calls(): string[];
  /** Milliseconds by which the provider's clock is ahead of ours; it tells whole seconds. */
  ahead(): number | undefined;
  /** The traffic since the last time, if it is recorded. */
  takeExchanges(): Exchange[];
}

/** `ids`: those that the provider has given; no report shows them. `redactor`: the traffic is recorded, too. */
export function recordingWire(
  wire: Wire,
  ids: () => readonly string[],
  redactor?: Redactor,
): RecordingWire {
  const exchanges: Exchange[] = [];
  const sent: { readonly method: string; readonly path: string; readonly status: number }[] = [];
  let ahead: number | undefined;
  return {
    ...wire,
    async send(asked) {
      const reply = await wire.send(asked);
      const request = { ...asked, path: pathBelow(wire.base, asked.path) };
      const [path = ''] = request.signed ? ['(signed URL)'] : request.path.split('?');
      sent.push({ method: request.method, path, status: reply.status });
      const date = Date.parse(reply.headers.date ?? '');
      if (!Number.isNaN(date)) ahead = date - wire.clock.now();
      if (redactor === undefined) return reply;
      const kept = await keptReply(reply);
      exchanges.push(exchangeOf(request, reply, kept.text, redactor));
      return kept.reply;
    },
    calls() {
      const times = new Map<string, number>();
      for (const { method, path, status } of sent) {
        const call = `${method} ${withoutIds(path, ids())} ${status}`;
        times.set(call, (times.get(call) ?? 0) + 1);
      }
      return [...times].map(([call, count]) => (count > 1 ? `${call} (${count} times)` : call));
    },
    ahead: () => ahead,
    takeExchanges: () => exchanges.splice(0),
  };
}

/** Paths of one kind count as one. */
function withoutIds(path: string, ids: readonly string[]): string {
  let text = path.replace(/^https?:\/\/[^/]+/, '');
  for (const id of ids)
    text = text.replaceAll(id, '{id}').replaceAll(encodeURIComponent(id), '{id}');
  return text;
}
