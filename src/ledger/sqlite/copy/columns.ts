/** The name of a column in this ledger, where it has another one than elsewhere. */
export function columnOf(name: string): string {
  return name === 'quota' ? 'model' : name;
}
