import { docsPage } from '../base/docs-page.ts';
import { runVariables } from '../base/run-variables.ts';
import type { Environment } from './form.ts';
import { runVariable } from './inherited-run.ts';
import { nearest } from './nearest.ts';
import { optionNames, variableOf } from './table.ts';

const prefix = 'BATCHLING_';

/** Warnings for variables that look like ours and have no effect. They never hold a value. */
export function unknownVariables(environment: Environment): string[] {
  const given = Object.keys(environment).filter((name) => name.startsWith(prefix));
  if (given.length === 0) return [];
  const known = [
    runVariable,
    ...runVariables,
    ...optionNames.flatMap((option) => variableOf(option) ?? []),
  ];
  const endings = known.map((name) => name.slice(prefix.length));
  return given
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearest(name.slice(prefix.length), endings);
      const advice =
        meant === undefined
          ? `${docsPage('options.md')} lists all.`
          : `Did you mean ${prefix}${meant}?`;
      return `The environment variable ${name} means nothing to batchling. ${advice}`;
    });
}
