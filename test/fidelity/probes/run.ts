import { fetches } from './fetches.ts';
import { foreignRequests } from './foreign-requests.ts';
import { secureRequests } from './secure-requests.ts';
import { surroundings } from './surroundings.ts';

/** Prints what a program sees of each probe, as JSON. */
const seen: unknown[] = [];
for (const probe of [...foreignRequests, ...secureRequests, ...fetches, ...surroundings]) {
  const { name, differs } = probe;
  seen.push({ name, differs, saw: JSON.stringify(await probe.run()) });
}
console.log(JSON.stringify(seen));
