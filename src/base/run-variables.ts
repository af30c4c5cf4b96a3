// The CLI sets these variables for the processes of a run. They are no options: nobody else sets them, and
// they have no flag.

/** The folder in which the processes of a run report to their parent. */
export const reportVariable = 'BATCHLING_REPORT';
/** `true`: a process ends when all its calls are submitted. */
export const detachVariable = 'BATCHLING_DETACH';
/** The path of the config file. */
export const configVariable = 'BATCHLING_CONFIG';
/** `true`: the first process that has loaded the config file is to check its ledger. */
export const uncheckedVariable = 'BATCHLING_UNCHECKED';
/** The ledger that the check before the program has made: its first use is still to be told. */
export const newStoreVariable = 'BATCHLING_NEW_STORE';

/**
 * The variables that `exec --gateway` has set for programs that are not Node, as JSON: by name the value that leads to
 * the gateway, and the one before, if there was any.
 */
export const gatewayVariable = 'BATCHLING_GATEWAY';

/** The token that clients of a gateway must send. The user sets this one. */
export const tokenVariable = 'BATCHLING_TOKEN';

/** The secret that outgoing webhooks are signed with. The user sets this one, and it has no flag. */
export const webhookSecretVariable = 'BATCHLING_WEBHOOK_SECRET';

/** What the command of `--on-done` is told. */
export const doneVariables = {
  text: 'BATCHLING_DONE_TEXT',
  outcome: 'BATCHLING_DONE_OUTCOME',
  exitCode: 'BATCHLING_DONE_EXIT_CODE',
} as const;

export const runVariables: readonly string[] = [
  reportVariable,
  detachVariable,
  configVariable,
  uncheckedVariable,
  newStoreVariable,
  gatewayVariable,
  tokenVariable,
  webhookSecretVariable,
  ...Object.values(doneVariables),
];
