/** Exit code of the contract. */
const interrupted = 130;

/**
 * The first Ctrl-C ends the program at once and says how to go on. Only the CLI does this: the library
 * installs no signal handlers. Returns how to leave Ctrl-C alone again.
 */
export function onInterrupt(note: () => string): () => void {
  const end = () => {
    process.stderr.write(`\nbatchling: ${note()}\n`);
    process.exit(interrupted);
  };
  process.once('SIGINT', end);
  return () => process.off('SIGINT', end);
}
