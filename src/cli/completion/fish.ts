import type { CompletedCommand } from './completed-command.ts';

export function script(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, flags }) => [
    `complete -c batchling -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...flags.map((flag) => {
      const value = flag.takesValue ? ' -r' : '';
      const word = flag.name.slice(2);
      return `complete -c batchling -n '__fish_seen_subcommand_from ${name}' -l ${word}${value} -d ${quoted(flag.help)}`;
    }),
  ]);
  return `# Completion of batchling for fish\n${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
