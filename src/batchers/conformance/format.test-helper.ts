import { describe, expect } from 'vitest';
import { parseDuration } from '../../base/duration.ts';
import type { StreamedBody, Wire, WireRequest } from '../../http/wire.ts';
import {
  type BatcherSubject,
  idOf,
  openBench,
  planOf,
  routeOf,
  type Test,
} from './subject.test-helper.ts';

/** What a batcher says without the network. */
export function formatConformance({ batcher }: BatcherSubject, test: Test): void {
  describe('limits and format', () => {
    test('limits are sane', (subject) => {
      const limits = batcher.limits(routeOf(subject, JSON.stringify(subject.body('a'))));
      expect(limits.items).toBeGreaterThanOrEqual(limits.recommendedItems);
      expect(limits.recommendedItems).toBeGreaterThanOrEqual(1);
      expect(limits.bytes).toBeGreaterThanOrEqual(limits.itemBytes);
      expect(limits.itemBytes).toBeGreaterThan(0);
      expect(limits.inFlight).toBeGreaterThanOrEqual(1);
      expect(limits.pollMinimum).toBeGreaterThanOrEqual(0);
      const windows = Object.entries(limits.windows);
      expect(windows.length).toBeGreaterThan(0);
      for (const [duration, { word, priceShare }] of windows) {
        expect(parseDuration(duration), duration).toBeGreaterThan(0);
        expect(limits.outlives).toBeGreaterThan(parseDuration(duration) ?? 0);
        expect(word).not.toBe('');
        expect(priceShare).toBeGreaterThan(0);
        expect(priceShare).toBeLessThanOrEqual(1);
      }
    });

    test('the endpoint is one that the facts name as batched', ({ path }) => {
      const asPattern = (endpoint: string) =>
        new RegExp(`^${endpoint.split('*').map(escaped).join('[^/]*')}$`);
      expect(batcher.info.endpoints.some((endpoint) => asPattern(endpoint).test(path))).toBe(true);
    });

    test('the provider takes every completion window that is offered', async (subject) => {
      const { wire } = await openBench(subject);
      const plan = planOf(subject, ['a']);
      const { windows } = batcher.limits(plan.route);
      for (const { word } of Object.values(windows)) {
        const asked = { ...plan, completionWindow: word };
        const handle = await batcher.stage(wire, asked);
        expect((await batcher.create(wire, asked, handle)).id).not.toBe('');
      }
    });

    test('the credential goes to the origin of the base, and to origins only', () => {
      const origins = batcher.origins('https://llm.example/some/v1');
      expect(origins).toContain('https://llm.example');
      for (const origin of origins) expect(new URL(origin).origin).toBe(origin);
    });

    test('a body travels byte for byte, on one line', (subject) => {
      const { model = subject.body('a').model } = subject;
      const rest = JSON.stringify(subject.body('ä \u2028 "q"')).slice(1);
      const body = `{"seed":12345678901234567890,"2":1,"1":[1.0,1e2],\n${rest}`;
      const route = routeOf(subject, body);
      expect(route.body).toBe(body.replace('\n', ' '));
      expect(route.model).toBe(model);
    });

    test('a line is JSON, holds its id, and its envelope is ASCII', (subject) => {
      const route = routeOf(subject, JSON.stringify(subject.body('a')));
      const id = idOf('a', 12);
      const { before, after } = batcher.envelope(route, id);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is meant.
      expect(before + after).toMatch(/^[\x00-\x7f]*$/);
      expect(before + after).not.toContain('\n');
      const line = `${before}${route.body}${after}`;
      expect(() => JSON.parse(line)).not.toThrow();
      expect(JSON.stringify(JSON.parse(line))).toContain(id);
    });

    test('a call without a model is left alone', (subject) => {
      const { model: _, ...body } = subject.body('a');
      const text = JSON.stringify(body);
      const call = { query: '', path: subject.path, headers: {}, body: text, json: body };
      const match = batcher.match({ ...call, settings: {} });
      expect('bypass' in match && match.bypass).toBeTruthy();
    });

    test('the frame has exactly the bytes that it is said to have', async (subject) => {
      const { wire } = await openBench(subject);
      const beyond = new Set<number>();
      for (const prompts of [['a'], ['a', 'bb'], ['a', 'ü', 'ccc', 'dddd', 'eeeee']]) {
        const plan = planOf(subject, prompts);
        const { recorded, lengths } = recording(wire);
        const handle = await batcher.stage(recorded, plan);
        await batcher.create(recorded, plan, handle);
        const [length = 0] = lengths;
        expect(lengths, 'one body holds the items').toHaveLength(1);
        beyond.add(length - plan.bytes - batcher.frameBytes(plan.count));
      }
      // What a form adds around a file is the same for every batch.
      expect(beyond.size).toBe(1);
    });

    test('an error body has the type and the message', () => {
      const body = batcher.errorBody('batchling_missing', 'There is no line.');
      expect(() => JSON.parse(body)).not.toThrow();
      expect(body).toContain('batchling_missing');
      expect(body).toContain('There is no line.');
    });
  });
}

/** Counts the bytes of streamed bodies, and that they are as many as was said before. */
function recording(wire: Wire): { recorded: Wire; lengths: number[] } {
  const lengths: number[] = [];
  async function send(request: WireRequest) {
    if (isStreamed(request.body)) {
      let sent = 0;
      for await (const chunk of request.body.chunks()) sent += chunk.length;
      expect(sent).toBe(request.body.length);
      lengths.push(sent);
    }
    return wire.send(request);
  }
  return { recorded: { ...wire, send }, lengths };
}

function isStreamed(body: WireRequest['body']): body is StreamedBody {
  return typeof body === 'object' && 'chunks' in body;
}

function escaped(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
}
