import type { Answer } from '../../base/types.ts';
import type { EngineContext } from '../model/engine-context.ts';

/** No queue has this id: a request that is known has a queue of its own. */
const noQueue = 0;

/** The answer to a request that was asked before, good or bad, if the ledger has it. */
export async function storedAnswer(
  { ledger, owner }: Pick<EngineContext, 'ledger' | 'owner'>,
  fingerprint: Uint8Array,
  occurrence: number,
): Promise<Answer | undefined> {
  const ask = { fingerprint, occurrence, queue: noQueue, cache: true, waiting: true };
  const [look] = await ledger.look('', [ask]);
  if (look?.is === 'answered') return look.answer;
  // The owner may have died between collecting the answer and entering it: an ask finds it all the same.
  if (look?.is !== 'wait') return undefined;
  return owner.run(async (id) => {
    const [admission] = await ledger.admit(id, [ask]);
    if (admission?.is === 'answered') return admission.answer;
    // It was forgotten since it was looked at.
    if (admission?.is === 'mine') await ledger.withdraw(id, [admission.request]);
    return undefined;
  });
}
