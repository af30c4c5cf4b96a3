import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { BatchJson } from '../../api-types.ts';
import { href } from '../route.ts';
import { type Asked, serverNow } from '../server.ts';
import { lasting, moment, number, shortId } from '../words.ts';
import { Words, withoutHidden } from './plain-text.tsx';

/** What the screen is about; the window is called so, too. */
export function Title({ text }: { text: string }) {
  useEffect(() => {
    document.title = `${withoutHidden(text)} · batchling`;
  }, [text]);
  return (
    <h1>
      <Words text={text} />
    </h1>
  );
}

/** How long ago; the moment itself is told to who points at it. */
export function Ago({ at }: { at: number }) {
  const age = serverNow() - at;
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)}>
      {age < 5_000 ? 'just now' : `${lasting(age)} ago`}
    </time>
  );
}

const tones: Readonly<Record<string, string>> = {
  ended: 'good',
  answered: 'good',
  accepted: 'busy',
  creating: 'busy',
  staged: 'busy',
  refused: 'bad',
  failed: 'bad',
};

const signs: Readonly<Record<string, string>> = {
  good: '✓',
  bad: '✕',
  busy: '●',
  late: '!',
  calm: '○',
};

/** A state, told by its word, by a sign and by a colour. */
export function State({ tone, children }: { tone: string; children: ComponentChildren }) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{signs[tone]}</span> {children}
    </span>
  );
}

export function BatchState({ batch }: { batch: BatchJson }) {
  const tone = batch.slow ? 'late' : batch.failure === undefined ? tones[batch.state] : 'bad';
  return <State tone={tone ?? 'calm'}>{batch.words}</State>;
}

const memberWords: Readonly<Record<string, string>> = {
  admitted: 'waiting',
  planned: 'waiting',
  answered: 'answered',
  failed: 'error',
};

export function MemberState({ state, status }: { state: string; status?: number | undefined }) {
  return (
    <State tone={tones[state] ?? 'calm'}>
      {memberWords[state] ?? state}
      {status !== undefined && status !== 200 && ` ${status}`}
    </State>
  );
}

/** What there is at all is seen, in percent of a bar. */
const leastShare = 1;

/** How much of a whole is done, failed, and still to come: lengths, patterns and words say it, and colours. */
export function Bar({ total, done, failed }: { total: number; done: number; failed: number }) {
  const share = (part: number) => (total > 0 ? (100 * part) / total : 0);
  const bad = failed > 0 ? Math.max(leastShare, share(failed)) : 0;
  const good = Math.min(share(done), 100 - bad);
  const left = Math.max(0, total - done - failed);
  const label = `${number(done)} of ${number(total)} done${failed > 0 ? `, ${number(failed)} failed` : ''}, ${number(left)} to come`;
  return (
    <svg class="bar" role="img" aria-label={label}>
      <title>{label}</title>
      <defs>
        <Hatch id="hatch" size={5} ground="bar-failed" line="bar-stripe" />
      </defs>
      <rect class="bar-rest" width="100%" height="100%" />
      <rect class="bar-done" width={`${good}%`} height="100%" />
      {failed > 0 && <rect x={`${good}%`} width={`${bad}%`} height="100%" fill="url(#hatch)" />}
    </svg>
  );
}

/** Stripes to fill something with, by its id. `ground` and `line` are classes. */
export function Hatch(given: { id: string; size: number; ground: string; line: string }) {
  const { id, size, ground, line } = given;
  return (
    <pattern
      id={id}
      width={size}
      height={size}
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <rect width={size} height={size} class={ground} />
      <line y2={size} class={line} />
    </pattern>
  );
}

/** Requests that are done at the provider, or collected already: those that failed, too. */
export function doneOf({ counts, answered }: BatchJson): number {
  return Math.max(answered, counts ? counts.completed + counts.failed : 0);
}

export function failedOf({ counts, count }: BatchJson): number {
  return Math.min(count, counts?.failed ?? 0);
}

/** What is said after a number of requests. */
export function FailedOf({ batch }: { batch: BatchJson }) {
  const failed = failedOf(batch);
  return failed > 0 ? <span class="bad-text">, {number(failed)} failed</span> : null;
}

export function BatchLink({ batch }: { batch: Pick<BatchJson, 'id' | 'name'> }) {
  return (
    <a class="id" href={href('batch', batch.id)} title={batch.id}>
      {shortId(batch.id)}
    </a>
  );
}

/** Where requests go. Whoever asks chooses the model. */
export function Place({ provider, model }: { provider: string; model: string }) {
  return (
    <>
      <span class="quiet nowrap">{provider}</span> <Words text={model} />
    </>
  );
}

/** What a batch is called, or else where it goes. */
export function BatchName({ batch: { name, provider, model } }: { batch: BatchJson }) {
  if (name === undefined) return <Words text={`${provider} ${model}`} />;
  return (
    <strong>
      <Words text={name} />
    </strong>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <div>{children}</div>
    </div>
  );
}

/** What is shown while an answer is not there. `title`: of a screen that has none without it. */
export function Pending({ asked, title }: { asked: Asked<unknown>; title?: string }) {
  return (
    <>
      {title && <Title text={title} />}
      {asked.error ? (
        <Trouble text={asked.error.message} />
      ) : (
        <p class="quiet" role="status">
          Reading the ledger …
        </p>
      )}
    </>
  );
}

export function Trouble({ text }: { text: string }) {
  return (
    <p class="trouble" role="alert">
      <Words text={text} />
    </p>
  );
}

export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  const there = facts.filter(([, value]) => value !== undefined && value !== '' && value !== false);
  return (
    <dl class="facts">
      {there.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? <Words text={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Figure({ label, value, note }: { label: string; value: string; note?: string }) {
  return (
    <div class="figure">
      <span class="label">{label}</span>
      <strong>{value}</strong>
      {note && <span class="quiet">{note}</span>}
    </div>
  );
}

export function Copy({ text, label }: { text: string; label: string }) {
  const [said, say] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch {
      say('Not allowed');
    }
    setTimeout(() => say(''), 2_000);
  };
  return (
    <button type="button" class="small" onClick={copy}>
      <span aria-live="polite">{said || label}</span>
    </button>
  );
}

export function Tags({ tags }: { tags: Readonly<Record<string, string>> }) {
  const pairs = Object.entries(tags);
  if (pairs.length === 0) return null;
  return (
    <span class="tags">
      {pairs.map(([key, value]) => (
        <a key={key} href={href('batches', '', { tag: `${key}=${value}` })}>
          <Words text={`${key}=${value}`} />
        </a>
      ))}
    </span>
  );
}
