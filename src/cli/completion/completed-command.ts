/** What the completion scripts know of a command. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly {
    /** `--window` */
    readonly name: string;
    readonly help: string;
    readonly takesValue: boolean;
  }[];
}
