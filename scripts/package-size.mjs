// What `npm pack` would publish, after a build: prints its size, and fails when it is too large or holds what does not belong.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const most = { packed: 1_100_000, unpacked: 3_500_000, page: 80_000 };
const belongs =
  /^(dist\/.*\.(js|d\.ts)|dist\/ui\/page\.css|docs\/(?!decisions|mutants)[\w-]+\.md|docs\/pictures\/[\w-]+\.svg|examples\/.*|package\.json|(README|CHANGELOG|CONTRIBUTING)\.md|LICENSE)$/;

const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--loglevel=silent'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 100_000_000,
});
const [pack] = JSON.parse(printed);
const { size, unpackedSize, files } = pack;

/** @param {number} bytes */
const kilobytes = (bytes) => `${Math.round(bytes / 1000).toLocaleString('en-US')} kB`;

/** @type {Map<string, number>} */
const folders = new Map();
for (const { path, size: bytes } of files) {
  const folder = path.includes('/') ? path.split('/')[0] : 'others';
  folders.set(folder, (folders.get(folder) ?? 0) + bytes);
}
console.log(
  `The package: ${kilobytes(size)} packed, ${kilobytes(unpackedSize)} in ${files.length} files.`,
);
for (const [folder, bytes] of folders) console.log(`  ${folder.padEnd(9)} ${kilobytes(bytes)}`);

const page = files.filter(({ path }) => /^dist\/ui\/page\.(js|css)$/.test(path));
const pageSize = page.reduce((sum, { size: bytes }) => sum + bytes, 0);
console.log(`The page: ${kilobytes(pageSize)} of script and style.`);
if (page.length !== 2 || pageSize > most.page) {
  console.error(`The page needs a script and a style of ${kilobytes(most.page)} together at most.`);
  process.exitCode = 1;
}

const foreign = files
  .map(({ path }) => path)
  .filter((path) => !belongs.test(path) || /\.test\b/.test(path));
if (foreign.length > 0) {
  console.error(`These files do not belong into the package:\n  ${foreign.join('\n  ')}`);
  process.exitCode = 1;
}
if (size > most.packed || unpackedSize > most.unpacked) {
  console.error(
    `It may have ${kilobytes(most.packed)} packed and ${kilobytes(most.unpacked)} unpacked.`,
  );
  process.exitCode = 1;
}
