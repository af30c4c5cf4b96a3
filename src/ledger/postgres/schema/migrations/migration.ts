/** One step of the schema. Forward only; a released one is never edited. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}
