import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** CPU seconds of a server and of all its processes so far, also of those that have ended. Linux only. */
export function serverSeconds(postmaster) {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat?.parent === postmaster);
  const { own = 0, ended = 0 } = statOf(String(postmaster)) ?? {};
  return (own + ended + children.reduce((sum, child) => sum + child.own, 0)) / ticksPerSecond;
}

/** The server that a process of it belongs to. */
export function postmasterOf(backend) {
  return statOf(String(backend)).parent;
}

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the command may hold spaces.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1], own: fields[11] + fields[12], ended: fields[13] + fields[14] };
  } catch {
    return undefined;
  }
}
