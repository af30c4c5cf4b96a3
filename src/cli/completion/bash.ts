import type { CompletedCommand } from './completed-command.ts';

/** Words that are no flags are files, and for `exec` commands: bash knows both itself. */
export function script(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ name, flags }) => {
    return `      ${name}) words="${flags.map((flag) => flag.name).join(' ')}" ;;`;
  });
  return `# Completion of batchling for bash: eval "$(batchling completion bash)"
_batchling() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${[...commands.map(({ name }) => name), 'help', '--help', '--version'].join(' ')}"
  elif [[ "$word" == -* ]]; then
    case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    esac
  elif [ "\${COMP_WORDS[1]}" = exec ]; then
    COMPREPLY=($(compgen -c -- "$word"))
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _batchling batchling
`;
}
