/** Whether the text of the option `store` names a database, and not a file or the memory. */
export function isDatabase(store: string): boolean {
  return /^postgres(ql)?:/i.test(store);
}

/** The schema where the text of the option `store` names none. */
export const defaultSchema = 'batchling';

/** The text of the option `store` for people. A URL is cut to what is no secret: host, database, schema. */
export function shownStore(store: string): string {
  if (!isDatabase(store)) return store;
  try {
    const { host, pathname, searchParams } = new URL(store);
    const schema = searchParams.get('schema') ?? defaultSchema;
    return `postgres://${host}${pathname}${schema === defaultSchema ? '' : `?schema=${schema}`}`;
  } catch {
    return 'postgres://…';
  }
}
