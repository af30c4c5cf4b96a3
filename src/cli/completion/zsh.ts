import type { CompletedCommand } from './completed-command.ts';

export function script(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ name, flags }) => {
    const entries = flags.map((flag) => entry(flag.name, flag.help));
    return `    ${name}) flags=(${entries.join(' ')}) ;;`;
  });
  return `#compdef batchling
# Completion of batchling for zsh: eval "$(batchling completion zsh)"
_batchling() {
  local -a commands flags
  commands=(${commands.map(({ name, summary }) => entry(name, summary)).join(' ')})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases.join('\n')}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then
    _describe -o flag flags
  elif [[ "$words[2]" == exec ]]; then
    _command_names
  else
    _files
  fi
}
compdef _batchling batchling
`;
}

/** `_describe` takes a colon for the end of the word. */
function entry(word: string, help: string): string {
  const text = `${word}:${help.replaceAll(':', '\\:')}`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
