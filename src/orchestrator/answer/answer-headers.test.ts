import { describe, expect, it } from 'vitest';
import type { Delivery } from '../model/call.ts';
import { answerHeaders } from './answer-headers.ts';

function headersOf(status: number, headers: Record<string, string>, more: Partial<Delivery> = {}) {
  const answer = { status, headers, body: '{}' };
  return answerHeaders({ answer, source: 'batch', itemId: 'item-1', ...more });
}

describe('the headers of an answer', () => {
  it("are the provider's, and say where the answer came from", () => {
    const own = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'req_1' };
    expect(headersOf(200, own, { batchToken: 'b-1' })).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': 'req_1',
      'x-batchling-source': 'batch',
      'x-batchling-batch-id': 'b-1',
      'x-batchling-request-id': 'item-1',
    });
  });

  it('have a content type in any case, and leave out what is not known', () => {
    expect(headersOf(200, {}, { itemId: '', source: 'ledger' })).toEqual({
      'content-type': 'application/json',
      'x-batchling-source': 'ledger',
    });
  });

  it.each(['req\r\nx-evil: 1', 'req\0', 'żółw', '🐢'])(
    'leave out what no header may hold: %j',
    (illegal) => {
      const headers = headersOf(200, { 'x-request-id': illegal, 'x-other': 'Zürich\t1' });
      expect(headers).not.toHaveProperty('x-request-id');
      expect(new Headers(headers).get('x-other')).toBe('Zürich\t1');
    },
  );

  it.each([400, 404, 429, 499, 500, 529])('tell clients not to come back at %i', (status) => {
    const inviting = { 'retry-after': '1', 'retry-after-ms': '1000', 'x-should-retry': 'true' };
    const headers = headersOf(status, inviting);
    expect(headers).not.toHaveProperty('retry-after');
    expect(headers).not.toHaveProperty('retry-after-ms');
    expect(headers['x-should-retry']).toBe('false');
  });

  it('invite nobody to come back for an answer that is fine', () => {
    const headers = headersOf(200, { 'retry-after': '1', 'x-should-retry': 'true' });
    expect(headers).not.toHaveProperty('retry-after');
    expect(headers).not.toHaveProperty('x-should-retry');
  });
});
