/** One line of what `doctor` finds. Never holds a value of a secret. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'bad';
  readonly about: string;
  readonly text: string;
  /** What to do. */
  readonly advice?: string;
}
