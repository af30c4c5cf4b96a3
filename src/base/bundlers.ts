/** One of the two packages has native binaries, the other requires modules of Node's inside an ES module. */
export const bundlerAdvice =
  'If the program is bundled, mark @photostructure/sqlite and undici as external, so that they are loaded ' +
  'from node_modules (esbuild: --external:@photostructure/sqlite --external:undici).';
