import { type Command, Option } from 'commander';
import { type Form, Refused } from '../../options/form.ts';
import { usageError } from '../usage-error.ts';

/** Adds the flags that all commands on the ledger have. */
export function addLedgerFlags(command: Command): Command {
  return command
    .option('--store <path>', 'the ledger (default: that of BATCHLING_STORE or the config file)')
    .option('--config <file>', 'options from this file (default: that of the project)')
    .option('--json', 'print JSON');
}

/** The name of a variable: a secret on a command line can be read by everybody on the machine. */
export function credentialFlag(): Option {
  const add = (text: string, before: readonly string[] = []) => [...before, text];
  return new Option(
    '--credential <provider=VARIABLE>',
    'environment variable that holds the key of a provider; may be repeated',
  ).argParser(add);
}

/** The value of a flag, checked as the option of the same form is. */
export function readFlag<Value>(flag: string, text: string, form: Form<Value>): Value {
  try {
    const context = { environment: {}, knownProviders: () => [], infoOf: () => undefined };
    return form.parse(form.read ? form.read(text) : text, context);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw usageError(`${flag} must be ${form.allowed}, but got: ${text}`);
  }
}
