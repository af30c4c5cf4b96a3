/** What to type to fetch answers, with the ledger that was named, so that it finds the same one. */
export function collectCommand(store: string | undefined, flags = ''): string {
  const named = store ? ` --store ${/^[\w./:\\~-]+$/.test(store) ? store : `'${store}'`}` : '';
  return `\`batchling collect${flags}${named}\``;
}
