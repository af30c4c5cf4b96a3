import { messageLife, type Outbox, type OutboxMessage } from '../outbox.ts';

interface Kept extends OutboxMessage {
  readonly at: number;
  due: number | undefined;
  tries: number;
}

export function memoryOutbox(now: () => number): Outbox {
  const kept = new Map<string, Kept>();
  return {
    async add(messages) {
      for (const message of messages) {
        if (kept.has(message.id)) continue;
        kept.set(message.id, { ...message, at: now(), due: now(), tries: 0 });
      }
    },
    async take(target, { lease, limit }) {
      for (const { id, at } of kept.values()) if (at < now() - messageLife) kept.delete(id);
      const waiting = () =>
        [...kept.values()]
          .flatMap((one) => (one.target === target && one.due !== undefined ? [one as Due] : []))
          .sort((one, other) => one.due - other.due);
      const messages = waiting()
        .filter(({ due }) => due <= now())
        .slice(0, limit)
        .map((one) => {
          one.due = now() + lease;
          const { id, body, tries } = one;
          return { id, target, body, attempt: tries + 1 };
        });
      const [next] = waiting();
      return { messages, ...(next && { next: Math.max(0, next.due - now()) }) };
    },
    async settle(id, again) {
      const message = kept.get(id);
      if (!message) return;
      message.tries += 1;
      message.due = again === undefined ? undefined : now() + again;
    },
  };
}

type Due = Kept & { due: number };
