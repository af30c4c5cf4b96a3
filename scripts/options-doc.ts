// Prints docs/options.md from the table of options: `npm run docs:options`.
import { optionNames, optionTable, variableOf } from '../src/options/index.ts';

/** The page, as it must stand in docs/options.md. */
export function optionsPage(): string {
  const rows = optionNames.map((name) => {
    const { help, usual, allowed } = optionTable[name];
    const variable = variableOf(name);
    const cell = (text: string) => text.replaceAll('|', '\\|');
    return `| \`${name}\` | ${cell(help)} | ${cell(String(usual))} | ${cell(allowed)} | ${variable ? `\`${variable}\`` : ''} |`;
  });
  return [
    '# Options',
    '',
    'An option of `batchify` wins over the surrounding scope, that over the variable, that over the config file, that over',
    'the default. Options with a variable are also flags of the command line, `--batch-size` ([cli.md](cli.md)).',
    'A duration is a number of milliseconds or a text such as `"250ms"`, `"2s"`, `"24h"`.',
    '',
    '| option | meaning | default | allowed | variable |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

if (process.argv[1] === new URL(import.meta.url).pathname) process.stdout.write(optionsPage());
