import { render } from 'preact';
import { App } from './app.tsx';
import { beatNow, shareToken, takeToken } from './server.ts';

takeToken();
shareToken();
// A server that was started anew prints another address, which may come into a tab that is open: it loads nothing.
addEventListener('hashchange', () => {
  if (takeToken()) beatNow();
});
const root = document.getElementById('page');
if (root) {
  root.textContent = '';
  render(<App />, root);
}
