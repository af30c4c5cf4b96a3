import { splitLines } from '../../http/jsonl.ts';
import type { WireReply } from '../../http/wire.ts';
import type { Row } from '../batcher.ts';

/** The rows of one result source, line by line; the last one says so if it could not be read. */
export async function* resultRows(
  reply: WireReply,
  readLine: (line: string) => Row,
): AsyncIterable<readonly Row[]> {
  let isEmpty = true;
  let isUnderstood = false;
  for await (const group of splitLines(reply.bytes())) {
    const rows = group.map((line) => readLine(line.toString()));
    isEmpty = false;
    isUnderstood ||= rows.some((row) => 'id' in row);
    yield rows;
  }
  const { 'content-length': length, 'transfer-encoding': transfer } = reply.headers;
  // Neither: the body ended with the connection, and nobody knows whether that was its end.
  if (length === undefined && transfer === undefined) yield [{ unreadable: 'unended' }];
  if (!isUnderstood) yield [{ unreadable: isEmpty ? 'empty' : 'garbled' }];
}
