import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reservePort } from '../../../../test/support/servers/reserved-port.ts';
import { binaries, serverUser } from './binaries.test-helper.ts';
import { fillWithNewData } from './new-data.test-helper.ts';

/** A PostgreSQL server that ends with the tests. */
export interface TestServer {
  readonly url: string;
  /** Ends the server at once; connections break. */
  stop(): Promise<void>;
  /** The same as if it had crashed: what no commit has waited for is lost. */
  crash(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Nothing of it has to survive a power cut. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'autovacuum=off',
  'jit=off',
  'shared_buffers=32MB',
  'max_connections=60',
  'unix_socket_directories=',
];

/**
 * Ends the server when its input ends, which is when this process is gone, however it ended. The shell
 * ends with the server, too, so that one that cannot start is noticed at once.
 */
const UNTIL_INPUT_ENDS = `
  exec 3<&0
  "$@" & server=$!
  { read -r line <&3; kill -INT $server; } & reader=$!
  wait $server; code=$?
  kill $reader 2>/dev/null
  exit $code`;

export async function startServer(settings: readonly string[] = []): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'batchling-postgres-'));
  // The server does not run as root, and has to reach its folder.
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  fillWithNewData(data);
  // Also while it is stopped: it starts at the same one again.
  const { port, release } = await reservePort();
  const flags = [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting]);
  const command = [join(binaries(folder), 'postgres'), '-D', data, '-p', String(port), ...flags];
  let child: ChildProcess | undefined;

  const start = async () => {
    const started = spawn('sh', ['-c', UNTIL_INPUT_ENDS, 'sh', ...command], {
      ...serverUser,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child = started;
    await ready(started);
  };
  const stop = async (isCrash = false) => {
    const running = child;
    child = undefined;
    if (!running) return;
    const ended = once(running, 'exit');
    if (isCrash) {
      const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGQUIT');
    }
    running.stdin?.end();
    await ended;
  };
  const remove = async () => {
    await stop();
    release();
    rmSync(folder, { recursive: true, force: true });
  };
  await start().catch(async (error: unknown) => {
    child = undefined;
    await remove();
    throw error;
  });
  return {
    url: `postgres://tester:hunter2@127.0.0.1:${port}/postgres`,
    stop: () => stop(),
    crash: () => stop(true),
    start,
    remove,
  };
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // What comes later is read, so that the server can go on, and dropped.
      if (log.length < 10_000) log += text;
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('close', () => reject(new Error(`The PostgreSQL server did not start: ${log}`)));
    server.once('error', reject);
  });
}
