import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchJson } from '../../api-types.ts';
import { Ago, Empty, MemberState, Place, Title, Trouble } from '../parts/pieces.tsx';
import { Words } from '../parts/plain-text.tsx';
import { go, href } from '../route.ts';
import { ask, type Refusal } from '../server.ts';
import { counted, number } from '../words.ts';

interface Found extends Omit<SearchJson, 'next'> {
  readonly next?: number | undefined;
  readonly isBusy: boolean;
  readonly error?: Refusal;
}

const nothing: Found = { found: [], looked: 0, hasQuestions: false, isBusy: false };
/** The search stops by itself after so many hits; its reader can go on. */
const enough = 30;

export function SearchScreen({ query }: { query: URLSearchParams }) {
  const words = query.get('q') ?? '';
  const [text, set] = useState(words);
  const [shown, show] = useState(nothing);
  const current = useRef('');

  const look = async (from: Found, most: number) => {
    let so = { ...from, isBusy: true };
    show(so);
    while (current.current === words) {
      const before = so.next === undefined ? '' : `&before=${so.next}`;
      try {
        const page = await ask<SearchJson>(`search?q=${encodeURIComponent(words)}${before}`);
        so = {
          found: [...so.found, ...page.found],
          looked: so.looked + page.looked,
          hasQuestions: so.hasQuestions || page.hasQuestions,
          next: page.next,
          isBusy: page.next !== undefined && so.found.length + page.found.length < most,
        };
      } catch (error) {
        so = { ...so, isBusy: false, error: error as Refusal };
      }
      if (current.current !== words) return;
      show(so);
      if (!so.isBusy) return;
    }
  };
  useEffect(() => {
    current.current = words;
    set(words);
    if (words === '') show(nothing);
    else void look(nothing, enough);
    return () => {
      current.current = '';
    };
  }, [words]);

  return (
    <>
      <Title text="Search" />
      {/* biome-ignore lint/a11y/useSemanticElements: a search element is not known everywhere. */}
      <form
        class="search"
        role="search"
        aria-label="Search questions and answers"
        onSubmit={(event) => {
          event.preventDefault();
          go(href('search', '', { q: text.trim() }));
        }}
      >
        <label>
          Words of a question or an answer
          <input type="search" value={text} onInput={(event) => set(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      {shown.error && <Trouble text={shown.error.message} />}
      {words !== '' && <Results shown={shown} />}
      {words === '' && (
        <p class="quiet">
          The newest requests are looked through first. Questions are found where the ledger keeps
          them (keep: "all").
        </p>
      )}
      {shown.next !== undefined && !shown.isBusy && (
        <p class="next">
          <button
            type="button"
            onClick={() => {
              current.current = words;
              void look(shown, shown.found.length + enough);
            }}
          >
            Look further back
          </button>
        </p>
      )}
      {shown.isBusy && (
        <p class="next">
          <button
            type="button"
            onClick={() => {
              current.current = '';
              show({ ...shown, isBusy: false });
            }}
          >
            Stop
          </button>
        </p>
      )}
    </>
  );
}

function Results({ shown: { found, looked, isBusy, hasQuestions, next } }: { shown: Found }) {
  return (
    <>
      <p class="quiet" role="status">
        {isBusy ? 'Looking: ' : ''}
        {number(found.length)} found in {counted(looked, 'request')}
        {!isBusy && looked > 0 && !hasQuestions && '; questions are not kept in this ledger'}.
      </p>
      {found.length === 0 && !isBusy && next === undefined && (
        <Empty title="Nothing has these words">
          <p>All of them have to stand in one question, or in one answer.</p>
        </Empty>
      )}
      <ul class="hits">
        {found.map((one) => (
          <li key={one.request} class="card">
            <a href={href('request', String(one.request))}>
              {one.where === 'question' ? 'Question' : 'Answer'} of {one.id.slice(0, 8)}
            </a>{' '}
            <span class="quiet">
              <Place provider={one.provider} model={one.model} /> · <Ago at={one.since} />
            </span>{' '}
            <MemberState state={one.state} status={one.status} />
            <p class="excerpt">
              <Words text={one.around} />
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
