// `batchling map` over a large file, after a build: node bench/map.mjs [lines = 300,000] [kills = 0] [--floor]
// Prints peak memory, CPU per line, the size of the ledger, and whether every line was sent once and came out in order.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [given, kills = '0'] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const lines = Number(given ?? 300_000);
const folder = await mkdtemp(join(tmpdir(), 'batchling-bench-map-'));
const input = join(folder, 'input.jsonl');
const output = join(folder, 'output.jsonl');
const store = join(folder, 'ledger.db');
const ticks = 100;

try {
  await makeInput();
  const provider = spawn(
    process.execPath,
    [new URL('map-provider.mjs', import.meta.url).pathname, String(lines)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const [base] = String((await once(provider.stdout, 'data'))[0]).split('\n');
  const startedAt = performance.now();
  const cost = await runAll(base);
  const seconds = (performance.now() - startedAt) / 1000;
  await checkOutput();
  const { never, once: sentOnce, twice } = await (await fetch(new URL('/executions', base))).json();
  print('lines', lines.toLocaleString('en-US'));
  print('killed', `${cost.killed} times`);
  print('sent once, never, twice', `${sentOnce}, ${never}, ${twice}`);
  print('peak memory', `${Math.round(cost.peak / 1024)} MB`);
  print('CPU per line', `${((cost.cpu * 1e6) / lines).toFixed(1)} µs`);
  print('time', `${seconds.toFixed(0)} s`);
  print(
    'ledger',
    `${(statSync(store).size / 1e6).toFixed(0)} MB, ${Math.round(statSync(store).size / lines)} bytes a line`,
  );
  if (process.argv.includes('--floor')) await compareWithFloor(base, cost);
  provider.stdin.end();
  process.exitCode = never + twice === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function print(name, value) {
  process.stdout.write(`${name.padEnd(26)}${value}\n`);
}

async function makeInput() {
  const file = createWriteStream(input);
  for (let number = 0; number < lines; number += 1) {
    const body = {
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: `line ${number} asks something ${'.'.repeat(40)}` }],
    };
    const line = { custom_id: `c${number}`, method: 'POST', url: '/v1/chat/completions', body };
    if (!file.write(`${JSON.stringify(line)}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

/** Starts the job again until it is done. It is killed at random moments on the way. */
async function runAll(base) {
  const cost = { peak: 0, cpu: 0, killed: 0 };
  const moments = Array.from({ length: Number(kills) }, () => Math.floor(Math.random() * lines));
  moments.sort((a, b) => a - b);
  for (;;) {
    const { code, peak, cpu } = await runOnce(base, moments[cost.killed]);
    cost.peak = Math.max(cost.peak, peak);
    cost.cpu += cpu;
    if (code === 0) return cost;
    if (code !== null) throw new Error(`the job ended with code ${code}`);
    cost.killed += 1;
  }
}

/** `killAt`: so many lines are in the output, or a little later. */
async function runOnce(base, killAt) {
  const cli = new URL('../dist/cli/main.js', import.meta.url).pathname;
  const given = [
    'map',
    input,
    '-o',
    output,
    '--to',
    base,
    '--store',
    store,
    '--poll',
    '50ms',
    '--display',
    'none',
    '--no-canary',
  ];
  const child = spawn(process.execPath, [cli, ...given], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, OPENAI_API_KEY: 'sk-bench' },
  });
  let [peak, cpu] = [0, 0];
  let kill;
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
      const times = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      cpu = (Number(times[11]) + Number(times[12])) / ticks;
    } catch {}
    if (killAt === undefined || done() < killAt) return;
    kill ??= setTimeout(() => child.kill('SIGKILL'), Math.random() * 1_000);
  }, 100);
  const [code] = await once(child, 'exit');
  clearInterval(look);
  clearTimeout(kill);
  return { code, peak, cpu };
}

/** Lines in the output, as the job has noted it. */
function done() {
  try {
    return JSON.parse(readFileSync(`${output}.batchling.json`, 'utf8')).progress.done;
  } catch {
    return -1;
  }
}

async function checkOutput() {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(output) })) {
    const { custom_id: id, response } = JSON.parse(line);
    const said = response.body.choices[0].message.content;
    if (id !== `c${number}` || said !== `answer to line ${number}`)
      throw new Error(`line ${number}: ${line}`);
    number += 1;
  }
  if (number !== lines) throw new Error(`${number} lines of ${lines} came out`);
}

async function compareWithFloor(base, { cpu }) {
  const floor = spawn(
    process.execPath,
    [new URL('map-floor.mjs', import.meta.url).pathname, base, input, `${output}.floor`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [told] = await once(floor.stdout, 'data');
  const least = JSON.parse(String(told)).cpu / 1e6;
  print(
    'CPU of a script by hand',
    `${((least * 1e6) / lines).toFixed(1)} µs a line; ours is ${(cpu / least).toFixed(2)} times that`,
  );
}
