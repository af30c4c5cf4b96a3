/**
 * What a bundler cannot take in: a package with native binaries, and one that requires modules of Node's
 * from inside of an ES module.
 */
export const bundlerAdvice =
  'If the program is bundled, mark @photostructure/sqlite and undici as external, so that they are loaded ' +
  'from node_modules (esbuild: --external:@photostructure/sqlite --external:undici).';
