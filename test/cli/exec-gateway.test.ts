import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type CliOptions,
  runCli,
  startCli,
  variablesOf,
  writeFiles,
} from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

/** What each of these programs does: asks one question after another, and prints each answer. */
const programs: Record<string, string> = {
  // Stands for any language: it has neither our hooks nor an HTTP client that they know.
  'sockets.cjs': `
    const { connect } = require('node:net');
    const base = new URL(process.env.OPENAI_BASE_URL);
    const ask = (content) => new Promise((resolve, reject) => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
      const socket = connect(base.port, base.hostname);
      socket.write('POST ' + base.pathname + '/chat/completions HTTP/1.1\\r\\nhost: ' + base.host +
        '\\r\\nauthorization: Bearer sk-raw\\r\\ncontent-type: application/json\\r\\nconnection: close' +
        '\\r\\ncontent-length: ' + body.length + '\\r\\n\\r\\n' + body);
      let text = '';
      socket.on('data', (part) => { text += part; });
      socket.on('error', reject);
      socket.on('end', () => resolve(text));
    });
    (async () => {
      for (const content of process.argv.slice(2)) {
        const text = await ask(content);
        console.log(/"content": ?"((?:[^"\\\\]|\\\\.)*)"/.exec(text)?.[1] ?? text.slice(0, 200));
      }
    })();`,
  'sockets.sh': 'NODE_OPTIONS= exec node sockets.cjs "$@"',
  'curl.sh': `for content in "$@"; do
      curl -s "$OPENAI_BASE_URL/chat/completions" -H 'content-type: application/json' -H 'authorization: Bearer sk-curl' \\
        -d "{\\"model\\":\\"m\\",\\"messages\\":[{\\"role\\":\\"user\\",\\"content\\":\\"$content\\"}]}"
      echo
    done`,
  'urllib.py': `
import json, os, sys, urllib.request
for content in sys.argv[1:]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer sk-python"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])`,
  'client.py': `
import http.client, json, os, sys
from urllib.parse import urlsplit
base = urlsplit(os.environ["OPENAI_BASE_URL"])
connection = http.client.HTTPConnection(base.netloc)
for content in sys.argv[1:]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]})
    headers = {"content-type": "application/json", "authorization": "Bearer sk-python"}
    connection.request("POST", base.path + "/chat/completions", body, headers)
    print(json.load(connection.getresponse())["choices"][0]["message"]["content"])`,
  'node.cjs': `
    const { spawn } = require('node:child_process');
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'from Node' }] });
    const headers = { authorization: 'Bearer sk', 'content-type': 'application/json' };
    (async () => {
      const base = process.env.OPENAI_BASE_URL ?? process.argv[2];
      const answer = await fetch(base + '/chat/completions', { method: 'POST', headers, body });
      console.log(process.env.OPENAI_BASE_URL, answer.headers.get('x-batchling-source'));
      spawn('sh', ['sockets.sh', 'from its child'], { stdio: 'inherit' });
    })();`,
};

/** Only Node is sure to be on a machine: programs of others take part where they are. */
const commands = (
  [
    ['sh', 'sh', 'sockets.sh'],
    ['curl', 'sh', 'curl.sh'],
    ['python3', 'python3', 'urllib.py'],
    ['python3', 'python3', 'client.py'],
  ] as const
).filter(([needed]) => isThere(needed));

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  await writeFiles(stage.folder, programs);
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const exec = (given: string[], options: CliOptions = {}) =>
  runCli(['exec', '--gateway', ...given], { folder: stage.folder, ...options });

it.each(commands)('a program that needs %s is in batch mode: %s %s', async (_, shell, file) => {
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' };
  const ask = () => exec(['--', shell, file, 'one', 'same', 'same'], { environment });
  const first = await ask();
  expect(first.code).toBe(0);
  expect(first.stdout.match(/answer to \\?"(one|same)/g)).toHaveLength(3);
  // The second one is another sample, as in a program that is Node.
  expect(new Set(first.stdout.trim().split('\n')).size).toBe(3);
  expect(first.stderr.match(/: 3 calls answered/g)).toHaveLength(1);
  expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
  const again = await ask();
  expect(again).toMatchObject({ code: 0, stdout: first.stdout });
  expect(again.stderr).toMatch(/from ledger +3/);
  expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
});

it.each(commands.filter(([needed]) => needed === 'python3').slice(0, 1))(
  'runs examples/any_language.py, where there is %s',
  async (python) => {
    const example = fileURLToPath(new URL('../../examples/any_language.py', import.meta.url));
    const environment = { ...variablesOf(stage), OPENAI_API_KEY: 'sk-python' };
    const { code, stdout } = await exec(['--', python, example], { environment });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Lisbon: .*Lisbon.*\nPorto: .*\nBraga: .*\nFaro: .*Faro.*\n$/);
    expect(stage.simulator.meter).toMatchObject({ batched: 4, realtime: 0 });
  },
);

it('Node captures its own calls, and what it starts finds the gateway', async () => {
  const base = stage.simulator.baseUrl('openai');
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' };
  const { code, stdout, stderr } = await exec(['--', 'node', 'node.cjs', base], { environment });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^undefined batch\nanswer to \\"from its child.*\n$/);
  expect(stderr.match(/: 2 calls answered/g)).toHaveLength(1);
  expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});

it('its secret is asked for, and written nowhere', async () => {
  const store = stage.newStore();
  const script =
    'echo "$OPENAI_BASE_URL"; sh sockets.sh kept; export OPENAI_BASE_URL=$(echo $OPENAI_BASE_URL | sed "s,/[^/]*/openai,/openai,"); ' +
    'sh sockets.sh refused; exit 7';
  const environment = { ...variablesOf(stage, store), BATCHLING_DISPLAY: 'plain' };
  const { code, stdout, stderr } = await exec(['--', 'sh', '-c', script], { environment });
  expect(code).toBe(7);
  const [base = '', answer, refusal] = stdout.split('\n');
  expect(answer).toContain('answer to');
  expect(refusal).toContain('401');
  expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
  const secret = new URL(base).pathname.split('/')[1] as string;
  expect(secret).toMatch(/^[\w-]{32}$/);
  expect(stderr).not.toContain(secret);
  const folder = join(store, '..');
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (/ledger\.db(-wal)?$/.test(name))
      expect((await readFile(path)).includes(secret)).toBe(false);
  }
});

it("leaves a variable of the user's alone where it names another server, and says so", async () => {
  const own = stage.simulator.baseUrl('anthropic');
  const environment = {
    ...variablesOf(stage),
    BATCHLING_DISPLAY: 'plain',
    OPENAI_BASE_URL: 'https://proxy.example/v1',
    ANTHROPIC_BASE_URL: `${own.replace(/\/v1$/, '')}/`,
    http_proxy: 'http://proxy.example',
    no_proxy: 'here.example',
  };
  const command = ['--', 'sh', '-c', 'echo "$OPENAI_BASE_URL $ANTHROPIC_BASE_URL $NO_PROXY"'];
  const { stdout, stderr } = await exec(command, { environment });
  expect(stdout).toMatch(
    /^https:\/\/proxy\.example\/v1 http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/anthropic here\.example,127\.0\.0\.1\n$/,
  );
  expect(stderr).toContain('OPENAI_BASE_URL is set and stays as it is');
  expect(stderr).not.toContain('ANTHROPIC_BASE_URL is set');
});

it('the SDKs of Perplexity and Fireworks find the gateway, by variables that have no version', async () => {
  const place = (provider: string) => `http://127\\.0\\.0\\.1:\\d+/[\\w-]{32}/${provider}`;
  const command = ['--', 'sh', '-c', 'echo "$PERPLEXITY_BASE_URL $FIREWORKS_BASE_URL"'];
  const environment = variablesOf(stage);
  const { stdout } = await exec(command, { environment });
  expect(stdout).toMatch(new RegExp(`^${place('perplexity')} ${place('fireworks')}\n$`));
});

it('a command that is interrupted leaves its calls to the next run', async () => {
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' };
  // Many programs say a lot when they are interrupted.
  const script =
    'trap "sleep 0.2; echo LAST WORDS >&2; exit 130" TERM; sh sockets.sh kept & wait $!';
  const given = ['exec', '--gateway', '--', 'sh', '-c', script];
  const options = { folder: stage.folder, environment };
  stage.simulator.hold();
  const running = await startCli(given, options);
  await until(() => stage.simulator.batches().length > 0, 'a batch');
  running.process.kill('SIGTERM');
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(
    /LAST WORDS\n[\s\S]*interrupted: 1 call waits in 1 batch at the provider\n.*run the same/,
  );
  stage.simulator.release();
  const again = await runCli(given, options);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('answer to') });
  expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
});

it('a command that dies while it waits is continued by the next run, although that wants fresh answers', async () => {
  const { simulator } = stage;
  const store = stage.newStore();
  const environment = { ...variablesOf(stage, store), BATCHLING_DISPLAY: 'plain' };
  const options = { folder: stage.folder, environment };
  const script =
    'echo $$; sh sockets.sh one; until test -e two; do sleep 0.05; done; exec sh sockets.sh two';
  const given = ['exec', '--gateway', '--no-cache', '--', 'sh', '-c', script];
  const running = await startCli(given, options);
  await until(() => running.stdout().includes('answer to'), 'the first answer');
  simulator.hold();
  await writeFiles(stage.folder, { two: '' });
  await until(() => simulator.batches().length === 2, 'the second batch');
  process.kill(Number.parseInt(running.stdout(), 10), 'SIGKILL');
  const { code, stderr } = await running.ended;
  expect(code).toBe(137);
  expect(stderr).toContain('interrupted: 1 call waits in 1 batch at the provider');
  expect(stderr).not.toContain('cannot reach');
  simulator.release();
  const again = await runCli(given, options);
  expect(again.stdout.match(/answer to/g)).toHaveLength(2);
  expect(simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});

it('a connection that the end of the command cuts off is no trouble of the provider', async () => {
  // It never answers to TLS, so that nothing is sent.
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const environment = {
    ...variablesOf(stage),
    BATCHLING_DISPLAY: 'plain',
    BATCHLING_HOSTS: `https://127.0.0.1:${port}/v1=openai`,
  };
  const given = ['exec', '--gateway', '--', 'sh', 'sockets.sh', 'kept'];
  const running = await startCli(given, { folder: stage.folder, environment });
  const [connection] = await once(silent, 'connection');
  const began = performance.now();
  running.process.kill('SIGTERM');
  const { stderr } = await running.ended;
  // Making a connection may take ten seconds.
  expect(performance.now() - began).toBeLessThan(9_500);
  expect(stderr).toContain('interrupted: 1 call not sent');
  expect(stderr).not.toContain('cannot reach');
  (connection as Socket).destroy();
  silent.close();
});

it('a call that cannot be batched is told with a cure that programs in any language have', async () => {
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' };
  const url = "process.env.OPENAI_BASE_URL + '/chat/completions'";
  const headers = `{ 'content-type': 'application/json', authorization: 'Bearer sk' }`;
  const program = `fetch(${url}, { method: 'POST', headers: ${headers}, body: '[]' })`;
  const command = ['--', 'env', 'NODE_OPTIONS=', process.execPath, '-e', program];
  const { stderr } = await exec(command, { environment });
  expect(stderr).toContain('the body is not a JSON object');
  expect(stderr).toContain('give it the header x-batchling: off');
});

it('a dry run sends nothing', async () => {
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' };
  const command = ['--dry-run', '--', 'sh', 'sockets.sh', 'one'];
  const { code, stdout, stderr } = await exec(command, { environment });
  expect(code).toBe(0);
  expect(stdout).toContain('400 ');
  expect(stderr).toContain('dry run: nothing was sent');
  expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 0 });
});

it('refuses --detach, and says what to do instead', async () => {
  const { code, stderr } = await exec(['--detach', '--', 'sh', 'sockets.sh', 'one']);
  expect(code).toBe(2);
  expect(stderr).toContain('--detach and --gateway do not go together');
});

function isThere(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`]);
    return true;
  } catch {
    return false;
  }
}
