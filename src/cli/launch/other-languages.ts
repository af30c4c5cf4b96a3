import { basename, extname } from 'node:path';
import { docsPage } from '../../base/docs-page.ts';

const programs =
  /^(python|pypy|ipython|pytest|uv|uvx|poetry|pipenv|ruby|bundle|rake|rails|go|java|mvn|gradle|kotlin|scala|php|perl|rscript|julia|dotnet|cargo|swift|elixir|mix|deno|bun|bunx)[\d.]*$/i;
const files = /^\.(py|rb|go|java|jar|kts?|php|pl|r|jl|rs|swift|exs?)$/i;

/** Whether this command, or this file, is run by something else than Node, as far as its name says. */
export function isOtherLanguage(command: string): boolean {
  const name = basename(command).replace(/\.exe$/i, '');
  return programs.test(name) || files.test(extname(name));
}

/** Said before a command is started that batchling can only reach by way of the gateway. */
export function gatewayNote(command: string): string {
  return (
    `${basename(command)} is not Node, so its own LLM calls are not captured and cost full price. ` +
    `With batchling exec --gateway they are (${docsPage('gateway.md')}). Node processes that it starts are captured.`
  );
}

export const gatewayCure =
  'For a program in another language: batchling exec --gateway -- <command>, or the gateway batchling serve, whose ' +
  `base URLs the program is given (${docsPage('gateway.md')}).`;
