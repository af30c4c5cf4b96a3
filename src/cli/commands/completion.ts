import { Argument, Command } from 'commander';
import { commands } from '../commands.ts';
import type { CompletedCommand } from '../completion/completed-command.ts';

const notes = `
Examples:
  $ eval "$(batchling completion bash)"                      in ~/.bashrc
  $ eval "$(batchling completion zsh)"                       in ~/.zshrc, after compinit
  $ batchling completion fish > ~/.config/fish/completions/batchling.fish`;

const shells = {
  bash: () => import('../completion/bash.ts'),
  zsh: () => import('../completion/zsh.ts'),
  fish: () => import('../completion/fish.ts'),
} as const;

export function define(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(shells)))
    .addHelpText('after', notes)
    .action(async (shell: keyof typeof shells) => {
      const { script } = await shells[shell]();
      process.stdout.write(script(await completedCommands()));
    });
}

async function completedCommands(): Promise<CompletedCommand[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const command = new Command(name);
      (await load()).define(command);
      return { name, summary, flags: flagsOf(command) };
    }),
  );
}

function flagsOf(command: Command): CompletedCommand['flags'] {
  const help = command.createHelp();
  return help.visibleOptions(command).flatMap((option) => {
    // The help writes `--[no-]cache`, `--dry-run[=deep]`, `--window <duration>`.
    const term = help.optionTerm(option);
    const [name = ''] = /--[\w-]+/.exec(term.replace('[no-]', '')) ?? [];
    const flag = { name, help: option.description, takesValue: term.includes(' <') };
    if (!term.includes('[no-]')) return [flag];
    const off = { name: name.replace('--', '--no-'), help: `turn off: ${option.description}` };
    return [flag, { ...flag, ...off }];
  });
}
