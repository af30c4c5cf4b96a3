import type { Admission, Ledger } from '../../ledger/ledger.ts';
import type { CapturedCall } from '../model/call.ts';
import type { Request } from '../model/request.ts';

interface Kept {
  readonly caller: { readonly call: Pick<CapturedCall, 'sampling'> };
  readonly request: Pick<Request, 'row' | 'fingerprint' | 'occurrence' | 'body'>;
}

/**
 * Writes down the bodies of requests that another process may have to go on with, and tells those who asked
 * for that. Nearly no call does.
 */
export async function keepBodies(
  ledger: Pick<Ledger, 'spool'>,
  asked: readonly Kept[],
  admissions: readonly Admission[],
): Promise<void> {
  const wanted = asked.filter(({ caller }) => caller.call.sampling?.kept !== undefined);
  if (wanted.length === 0) return;
  const open = asked.filter(
    ({ caller }, index) =>
      caller.call.sampling?.kept !== undefined && admissions[index]?.is !== 'answered',
  );
  await ledger.spool(
    open.map(({ request: { row, body } }) => ({ request: row, body: body as string })),
  );
  for (const { caller, request } of wanted) {
    const { row, fingerprint, occurrence } = request;
    const parts = wanted.filter((other) => other.caller.call === caller.call).length;
    caller.call.sampling?.kept?.({ row, fingerprint, occurrence, parts });
  }
}
