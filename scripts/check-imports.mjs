// Fails for an import that scripts/allowed-imports.mjs does not list, with the file and the line, for a line of that
// list that nobody uses, and for a folder with too many files. The folder to look at may be given; otherwise it is src/.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowedImports } from './allowed-imports.mjs';

const given = process.argv[2];
const source = resolve(given ?? fileURLToPath(new URL('../src', import.meta.url)));
const mostFiles = 20;

const files = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => relative(source, join(entry.parentPath, entry.name)))
  .filter((file) => !/\.test(-helper)?\.ts$/.test(file));
const problems = [];
const used = new Set();

for (const file of files) {
  readFileSync(join(source, file), 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const [, path] = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/.exec(line) ?? [];
      if (path === undefined) return;
      const target = relative(source, join(source, dirname(file), path));
      if (!isAllowed(file, target)) {
        problems.push(`src/${file}:${index + 1} imports ${target}: ${reason(file, target)}`);
      }
    });
}

const counts = new Map();
for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
for (const [folder, count] of counts) {
  if (count > mostFiles) {
    problems.push(
      `src/${folder} has ${count} source files; a reader finds things among ${mostFiles}`,
    );
  }
}

if (given === undefined) {
  for (const [folder, targets] of Object.entries(allowedImports)) {
    for (const target of targets) {
      if (used.has(`${folder} ${target}`)) continue;
      problems.push(`scripts/allowed-imports.mjs: '${folder}' does not import from '${target}'`);
    }
  }
}

/** Whose line speaks for a file: its own, or that of the nearest folder around it. */
function folderOf(file) {
  let folder = file;
  while (folder !== '.' && !(folder in allowedImports)) folder = dirname(folder);
  return folder === '.' ? '' : folder;
}

function isAllowed(file, target) {
  if (target.startsWith('..')) return false;
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === to || dirname(target) === from) return true;
  const entry = [target, to, folderOf(dirname(target))].find((name) =>
    allowedImports[from].includes(name),
  );
  used.add(`${from} ${entry}`);
  return entry !== undefined;
}

function reason(file, target) {
  if (target.startsWith('..')) return 'it leaves src/';
  return `'${folderOf(file)}' may not import from '${folderOf(target)}' (scripts/allowed-imports.mjs)`;
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log('Imports point the right way.');
