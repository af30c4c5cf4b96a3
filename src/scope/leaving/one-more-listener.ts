/**
 * Node warns of a leak at the eleventh listener of an event: one of ours must not cause the warning.
 *
 * @returns the undo.
 */
export function allowOneMoreListener(): () => void {
  const limit = process.getMaxListeners();
  // 0: there is no limit.
  if (limit > 0) process.setMaxListeners(limit + 1);
  return () => {
    // Unless the program has set another limit meanwhile.
    if (limit > 0 && process.getMaxListeners() === limit + 1) process.setMaxListeners(limit);
  };
}
