import { crc32 } from 'node:zlib';
import type { Reply } from '../server/exchange.ts';

/** Events as the frames of `application/vnd.amazon.eventstream`. */
export function framesReply(events: readonly (readonly [type: string, payload: object])[]): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    body: events.map(([type, payload]) => frameOf(type, JSON.stringify(payload))),
  };
}

function frameOf(type: string, payload: string): Buffer {
  const names = {
    ':event-type': type,
    ':content-type': 'application/json',
    ':message-type': 'event',
  };
  const headers = Buffer.concat(
    Object.entries(names).map(([name, value]) =>
      Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7, value.length >> 8, value.length & 255]),
        Buffer.from(value),
      ]),
    ),
  );
  const body = Buffer.from(payload);
  const lengths = [numberBytes(headers.length + body.length + 16), numberBytes(headers.length)];
  const start = Buffer.concat(lengths);
  const message = Buffer.concat([start, numberBytes(crc32(start)), headers, body]);
  return Buffer.concat([message, numberBytes(crc32(message))]);
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
