/** Exit codes of the contract. A program that is run has its own besides. */
export const exitCodes = {
  fine: 0,
  failed: 1,
  usage: 2,
  /** `--detach`: work is under way at the provider. */
  detached: 75,
  /** As shells have it: the command was found and could not be started. */
  notExecutable: 126,
  /** As shells have it. */
  notFound: 127,
  interrupted: 130,
} as const;
