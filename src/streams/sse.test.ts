import { describe, expect, it } from 'vitest';
import { dataEvent, typedEvent } from './sse.ts';

describe('a server-sent event', () => {
  it('has its data on one line, whatever line breaks are in it', () => {
    expect(dataEvent({ text: 'a\nb\r\nc' })).toBe('data: {"text":"a\\nb\\r\\nc"}\n\n');
  });

  it('is named like the type of its data', () => {
    expect(typedEvent({ type: 'ping', n: 1 })).toBe('event: ping\ndata: {"type":"ping","n":1}\n\n');
  });
});
