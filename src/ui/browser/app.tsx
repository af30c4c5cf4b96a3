import { useEffect, useRef, useState } from 'preact/hooks';
import type { InfoJson } from '../api-types.ts';
import { Boundary } from './parts/boundary.tsx';
import { Empty, Pending, Title, Trouble } from './parts/pieces.tsx';
import { go, href, type Route, useRoute } from './route.ts';
import { BatchScreen } from './screens/batch.tsx';
import { BatchesScreen } from './screens/batches.tsx';
import { FailuresScreen } from './screens/failures.tsx';
import { MoneyScreen } from './screens/money.tsx';
import { NowScreen } from './screens/now.tsx';
import { RequestScreen } from './screens/request.tsx';
import { SearchScreen } from './screens/search.tsx';
import {
  beatNow,
  type Connection,
  hasToken,
  keepToken,
  startPulse,
  tokenIn,
  useAnswer,
  usePulse,
} from './server.ts';

const tabs = [
  ['', 'Now'],
  ['batches', 'Batches'],
  ['failures', 'Failures'],
  ['money', 'Money'],
  ['search', 'Search'],
] as const;

/** Screens that are reached from another one, and the tab they belong to. */
const tabOf: Readonly<Record<string, string>> = { batch: 'batches', request: 'batches' };

const connectionWords: Readonly<Record<Connection, string>> = {
  live: 'live',
  lost: 'no connection',
  refused: 'no token',
};

export function App() {
  const route = useRoute();
  const { connection } = usePulse();
  useEffect(startPulse, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { tagName } = event.target as HTMLElement;
      const isTyping = tagName === 'INPUT' || tagName === 'SELECT';
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      go(href('search'));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const info = useAnswer<InfoJson>('info');
  const current = tabOf[route.screen] ?? route.screen;
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={href('')} aria-label="batchling, to what is now">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M8 10h16M8 16h11M8 22h6" />
          </svg>
          batchling
        </a>
        <nav aria-label="Screens">
          {tabs.map(([screen, title]) => (
            <a
              key={screen}
              href={href(screen)}
              aria-current={current === screen ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <span class="where">
          <span class={`pulse ${connection}`} role="status">
            {connectionWords[connection]}
          </span>
          <span class="store" title={info.value?.store}>
            {info.value?.store}
          </span>
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        {info.error?.status === 401 ? (
          <TokenForm />
        ) : info.value === undefined ? (
          <Pending asked={info} />
        ) : info.value.missing !== undefined ? (
          <NoLedger why={info.value.missing} />
        ) : (
          <Screen route={route} info={info.value} />
        )}
      </main>
    </>
  );
}

function skip(): void {
  document.getElementById('main')?.focus();
}

function Screen({ route, info }: { route: Route; info: InfoJson }) {
  const { screen, id } = route;
  const shown = useRef('');
  useEffect(() => {
    const name = `${screen}/${id}`;
    // Readers by ear, or by keys, begin at the top of a new screen; searches begin with the words.
    if (shown.current !== '' && shown.current !== name) {
      const first = document.querySelector<HTMLElement>(
        screen === 'search' ? '.search input' : 'main',
      );
      first?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    shown.current = name;
  }, [screen, id]);
  return (
    <Boundary key={`${screen}/${id}`} otherwise="The other screens still work.">
      <Content route={route} info={info} />
    </Boundary>
  );
}

function Content({ route: { screen, id, query }, info }: { route: Route; info: InfoJson }) {
  switch (screen) {
    case '':
      return <NowScreen canWrite={info.canWrite} />;
    case 'batches':
      return <BatchesScreen query={query} />;
    case 'batch':
      return <BatchScreen key={id} id={id} canWrite={info.canWrite} />;
    case 'request':
      return <RequestScreen key={id} id={id} />;
    case 'failures':
      return <FailuresScreen />;
    case 'money':
      return <MoneyScreen query={query} />;
    case 'search':
      return <SearchScreen query={query} />;
    default:
      return (
        <Empty title="There is no such screen">
          <a href={href('')}>To what is now</a>
        </Empty>
      );
  }
}

function NoLedger({ why }: { why: string }) {
  return (
    <>
      <Title text="Nothing here yet" />
      <Empty title="There is no ledger yet">
        <p>{why}</p>
        <p>This page looks again every few seconds.</p>
        <pre>npx batchling run eval.ts</pre>
      </Empty>
    </>
  );
}

function TokenForm() {
  const [token, set] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    // The whole address may have been pasted.
    keepToken(tokenIn(token) ?? token.trim());
    beatNow();
  };
  return (
    <>
      <Title text="Token" />
      {hasToken() && (
        <Trouble text="The server that runs now has another token: each start makes up a new one, unless one is given." />
      )}
      <form class="card token" onSubmit={submit}>
        <p>
          This page shows questions and answers, so it needs the token of its server. Open the
          address that the command has printed, or paste it here.
        </p>
        <label>
          Token or address
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => set(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </>
  );
}
