/**
 * Ends the process, or the worker thread. It is the function of Node, taken before the program runs: in their
 * workers test runners replace it by one that throws.
 */
export const exit: typeof process.exit = process.exit.bind(process);
