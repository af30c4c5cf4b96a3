import { basename, extname } from 'node:path';

/** What the loader of TypeScript says, with the file that it could not compile. */
const refusal = /^(.+?):\d+:\d+: ERROR: Top-level await .* "cjs" output format/m;

/**
 * `npm init` writes `"type": "commonjs"`, where TypeScript cannot have an `await` outside of functions. The
 * error that ends the program says neither: this adds what to do, and changes nothing else.
 */
export function explainTopLevelAwait(): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    const [, file] = refusal.exec(error instanceof Error ? error.message : '') ?? [];
    if (file === undefined) return;
    const renamed = `${basename(file, extname(file))}.mts`;
    process.stderr.write(
      `batchling: ${file} has an await outside of functions, which its package does not allow: rename the file ` +
        `to ${renamed}, or write "type": "module" into package.json\n`,
    );
  });
}
