import { crc32 } from 'node:zlib';

/** How a header says that its value is text. */
const textValue = 7;

/** One event of `application/vnd.amazon.eventstream`: a frame with two checksums. The payload is JSON. */
export function eventFrame(type: string, payload: string): Buffer {
  const headers = {
    ':event-type': type,
    ':content-type': 'application/json',
    ':message-type': 'event',
  };
  const head = Buffer.concat(Object.entries(headers).map(headerBytes));
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  // Two lengths and their checksum before headers and payload, and one of all that behind them.
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const checked = Buffer.concat([prelude, head, body]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(checked));
  return Buffer.concat([checked, end]);
}

function headerBytes([name, value]: [string, string]): Buffer {
  const text = Buffer.from(value);
  const before = Buffer.from([name.length, ...Buffer.from(name), textValue, 0, 0]);
  before.writeUInt16BE(text.length, before.length - 2);
  return Buffer.concat([before, text]);
}
