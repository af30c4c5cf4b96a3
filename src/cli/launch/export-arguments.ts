/**
 * The command line of an exported function as its arguments: texts in their order, then one object with
 * all `--name value`, `--name=value` and `--name` (true), if there is any. Values stay texts: a program
 * knows better than we do whether `007` is a number.
 */
export function exportArguments(given: readonly string[]): unknown[] {
  const positional: string[] = [];
  const options = new Map<string, Value>();
  for (let at = 0; at < given.length; at += 1) {
    const argument = given[at] as string;
    if (argument === '--') {
      positional.push(...given.slice(at + 1));
      break;
    }
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (name === undefined) {
      positional.push(argument);
      continue;
    }
    const next = given[at + 1];
    const takesNext = value === undefined && next !== undefined && !next.startsWith('--');
    if (takesNext) at += 1;
    add(options, camelCase(name), value ?? (takesNext ? next : true));
  }
  return options.size === 0 ? positional : [...positional, Object.fromEntries(options)];
}

type Value = string | true | (string | true)[];

/** An option that is given several times is a list. */
function add(options: Map<string, Value>, name: string, value: string | true): void {
  const before = options.get(name);
  options.set(name, before === undefined ? value : [before, value].flat());
}

function camelCase(name: string): string {
  return name.replace(/-+(.)/g, (_, letter: string) => letter.toUpperCase());
}
