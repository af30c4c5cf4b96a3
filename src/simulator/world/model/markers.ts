import { createHash } from 'node:crypto';

export type Marker =
  | { kind: 'status'; status: number; code?: string }
  | { kind: (typeof words)[number] };

/**
 * What becomes of the line: `both` is answered and stands among the failed lines, too; `unstated`
 * failed without any HTTP status.
 */
const words = [
  'missing',
  'broken',
  'double',
  'both',
  'foreign',
  'empty',
  'unstated',
  'expired',
  'canceled',
] as const;

const pattern = new RegExp(
  `\\[\\[(once )?(?:status (\\d{1,3})(?: ([a-z_]+))?|(${words.join('|')}))\\]\\]`,
);

/** Reads `[[…]]` markers; remembers bodies, because a `[[once …]]` strikes only the first time. */
export class Markers {
  readonly #struck = new Set<string>();

  read(prompt: string, body: unknown): Marker | null {
    const found = pattern.exec(prompt);
    if (found === null) return null;
    if (found[1] !== undefined && !this.#isFirst(body)) return null;
    if (found[2] !== undefined) {
      const code = found[3];
      return { kind: 'status', status: Number(found[2]), ...(code !== undefined && { code }) };
    }
    return { kind: found[4] as Exclude<Marker['kind'], 'status'> };
  }

  #isFirst(body: unknown): boolean {
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64');
    if (this.#struck.has(digest)) return false;
    this.#struck.add(digest);
    return true;
  }

  reset(): void {
    this.#struck.clear();
  }
}
