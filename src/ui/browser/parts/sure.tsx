import { useEffect, useRef, useState } from 'preact/hooks';
import type { DoneJson } from '../../api-types.ts';
import { ask, beatNow, type Refusal } from '../server.ts';
import { Words } from './plain-text.tsx';

interface Given {
  readonly label: string;
  readonly question: string;
  readonly explanation: string;
  /** What is asked of the server once the reader is sure. */
  readonly path: string;
}

/** A button that changes something: it asks first, and tells what came of it. */
export function Sure({ label, question, explanation, path }: Given) {
  const [isAsking, ask_] = useState(false);
  const [isBusy, busy] = useState(false);
  const [done, tell] = useState<DoneJson>();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isAsking) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isAsking]);
  const act = async () => {
    ask_(false);
    busy(true);
    const failed = (error: Refusal) => ({ text: error.message, failed: true });
    tell(await ask<DoneJson>(path, 'POST').catch(failed));
    busy(false);
    beatNow();
  };
  return (
    <span class="sure">
      <button type="button" disabled={isBusy} onClick={() => ask_(true)}>
        {isBusy ? 'One moment …' : label}
      </button>
      <span role="status" class={done?.failed ? 'trouble' : 'said'}>
        {done && <Words text={done.text} />}
      </span>
      <dialog ref={dialog} aria-labelledby="sure-title" onClose={() => ask_(false)}>
        <h2 id="sure-title">{question}</h2>
        <p>{explanation}</p>
        <div class="buttons">
          <button type="button" onClick={() => ask_(false)}>
            No
          </button>
          <button type="button" class="primary" onClick={act}>
            {label}
          </button>
        </div>
      </dialog>
    </span>
  );
}
