/**
 * Counts one more owner of something that the last of them undoes.
 *
 * @returns the undo of this owner; calling it twice is fine.
 */
export function addOwner(owned: { owners: number }, undo: () => void): () => void {
  owned.owners += 1;
  let isUndone = false;
  return () => {
    if (isUndone) return;
    isUndone = true;
    owned.owners -= 1;
    if (owned.owners === 0) undo();
  };
}
