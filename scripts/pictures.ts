// Draws docs/pictures/live.svg: what a terminal emulator shows of a real run against the simulator.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSimulator } from '../src/simulator/index.ts';
import type { RunParent } from '../test/support/programs/launched/run-parent.ts';
import { runInTerminal } from '../test/support/terminal/run-in-terminal.ts';

const columns = 80;
const rows = 14;
const folder = mkdtempSync(join(tmpdir(), 'batchling-picture-'));
const simulator = await startSimulator({
  speed: { validating: 300, running: 8_000, finalizing: 300 },
});
const openai = simulator.baseUrl('openai');
const anthropic = simulator.baseUrl('anthropic');

const child = (model: string, calls: number) => ({ baseURL: openai, model, calls });
const job: RunParent = {
  children: [
    { ...child('gpt-5-mini', 2_400), prints: ['Reading prompts.csv: 2,400 rows\n'] },
    child('gpt-5', 350),
  ],
  environment: {
    BATCHLING_HOSTS: `${openai}=openai,${anthropic}=anthropic`,
    BATCHLING_STORE: join(folder, 'ledger.db'),
    BATCHLING_WINDOW: '300ms',
    BATCHLING_POLL: '200ms',
  },
};

const run = await runInTerminal('launched/run-parent', job, columns, {}, '', rows);
const isWorthAPicture = (screen: readonly string[]) =>
  screen.filter((line) => /█{7,}.*~\d+s left$/.test(line)).length === 2;
let screen: readonly string[] = [];
while (!isWorthAPicture(screen)) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  ({ screen } = await run.shown());
}
await run.ended;
await simulator.close();
rmSync(folder, { recursive: true, force: true });

const target = fileURLToPath(new URL('../docs/pictures/live.svg', import.meta.url));
mkdirSync(join(target, '..'), { recursive: true });
writeFileSync(target, picture(screen.map(steady)));

/** What differs from run to run. */
function steady(line: string): string {
  return line.replace(/\S*\/ledger\.db/, '~/.cache/batchling/ledger.db');
}

function picture(lines: readonly string[]): string {
  const [left, top, step, width] = [18, 52, 19, columns * 8.43 + 36];
  const height = top + lines.length * step + 4;
  const texts = lines.map((line, at) => {
    const label = 'batchling:';
    const text = line.startsWith(label)
      ? `<tspan fill="#5fb3b3">${label}</tspan>${painted(line.slice(label.length))}`
      : painted(line);
    return `<text x="${left}" y="${top + at * step}">${text}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>The live display of batchling in a terminal</title>
<rect width="100%" height="100%" rx="8" fill="#1b2b34"/>
<g fill="#65737e"><circle cx="22" cy="20" r="6"/><circle cx="42" cy="20" r="6"/><circle cx="62" cy="20" r="6"/></g>
<g fill="#d8dee9" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">
${texts.join('\n')}
</g>
</svg>
`;
}

/** As a terminal with colours shows it. */
function painted(line: string): string {
  return escaped(line)
    .replace(/█+/, '<tspan fill="#99c794">$&</tspan>')
    .replace(/×+/, '<tspan fill="#ec5f67">$&</tspan>')
    .replace(/▒+/, '<tspan fill="#5fb3b3">$&</tspan>')
    .replace(/·{2,}/, '<tspan fill="#65737e">$&</tspan>')
    .replace(/[\d,]+\u00a0failed/, '<tspan fill="#ec5f67">$&</tspan>');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0');
}
