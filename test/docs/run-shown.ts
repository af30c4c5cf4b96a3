// Runs the modules that its arguments name, one after the other, and prints what went wrong.
import { pathToFileURL } from 'node:url';
import { openSurroundings } from './surroundings.ts';

process.on('unhandledRejection', (error) => console.log(`unhandled: ${error}`));
const simulator = await openSurroundings();
for (const path of process.argv.slice(2)) {
  simulator.reset();
  await import(pathToFileURL(path).href).catch((error: unknown) => {
    console.log(`${path}: ${error instanceof Error ? error.stack : error}`);
  });
}
await simulator.close();
