import type { Answer } from '../../../base/types.ts';
import type { RequestId } from '../../ledger.ts';
import type { Session } from '../connection/store.ts';

interface AnswerRow {
  readonly request: RequestId;
  readonly status: number;
  readonly headers: string;
  readonly body: Uint8Array;
}

export async function readAnswers(
  session: Pick<Session, 'rows'>,
  requests: readonly RequestId[],
): Promise<Map<RequestId, Answer>> {
  if (requests.length === 0) return new Map();
  const rows = await session.rows<AnswerRow>(
    'SELECT request, status, headers, body FROM answer WHERE request = ANY($1::bigint[])',
    [requests],
  );
  return new Map(
    rows.map(({ request, status, headers, body }) => {
      const answer = { status, headers: JSON.parse(headers), body: Buffer.from(body).toString() };
      return [request, answer];
    }),
  );
}
