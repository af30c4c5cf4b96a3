import { least } from './least.mjs';
import { runOnce } from './processes.mjs';

const rounds = 10;
const budget = { milliseconds: 30, megabytes: 10 };

/** What `import 'batchling'` costs a program that does nothing else. */
export async function importing() {
  const bare = [];
  const loaded = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await runOnce('import.mjs', 'bare'));
    loaded.push(await runOnce('import.mjs', 'batchling'));
  }
  const [base, ours] = [least(bare), least(loaded)];
  const row = (name, unit) => ({
    what: `importing: ${name}, bare Node / with batchling`,
    unit,
    base: base[name],
    ours: ours[name],
    most: base[name] + budget[name],
    ratio: false,
  });
  return [row('milliseconds', 'ms'), row('megabytes', 'MB')];
}
