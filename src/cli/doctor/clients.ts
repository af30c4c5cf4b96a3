import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { docsPage } from '../../base/docs-page.ts';
import { fields, type JsonObject, parseObject, text } from '../../base/json.ts';
import { builtInInfos } from '../../batchers/registry.ts';
import type { Finding } from './finding.ts';

/** Packages that make LLM calls which are captured, whatever the provider; see docs/clients.md. */
const forAnyProvider =
  /^(ai|@ai-sdk\/.+|@langchain\/.+|@instructor-ai\/instructor|axios|got|ky|node-fetch|superagent|ofetch)$/;

const ofProviders = new Set(builtInInfos.flatMap(({ packages = [] }) => packages));

const notCaptured: Readonly<Record<string, string>> = {
  undici: 'calls through the package undici have their own way to the network',
  'cohere-ai': 'Cohere has no batches that batchling knows',
};

/** The LLM and HTTP clients of the project in this folder. */
export async function clients(folder: string): Promise<Finding[]> {
  const names = await dependencies(folder);
  if (names === undefined) {
    return [{ level: 'ok', about: 'clients', text: `no package.json in ${folder}` }];
  }
  const known = names.filter((name) => ofProviders.has(name) || forAnyProvider.test(name));
  const versions = await Promise.all(known.map((name) => versionOf(folder, name)));
  const text = known.map((name, at) => `${name} ${versions[at]}`).join(', ');
  const findings: Finding[] = [
    {
      level: 'ok',
      about: 'clients',
      text: text === '' ? 'none that is known' : `captured: ${text}`,
    },
  ];
  for (const name of names) {
    const reason = notCaptured[name];
    if (reason === undefined) continue;
    const advice = `Its LLM calls go out at full price, which is reported. See ${docsPage('clients.md')}.`;
    findings.push({ level: 'warn', about: 'clients', text: `${name}: ${reason}`, advice });
  }
  return findings;
}

async function dependencies(folder: string): Promise<string[] | undefined> {
  const manifest = await readJson(join(folder, 'package.json'));
  if (manifest === undefined) return undefined;
  const { dependencies, devDependencies } = manifest;
  return Object.keys({ ...fields(dependencies), ...fields(devDependencies) }).sort();
}

async function versionOf(folder: string, name: string): Promise<string> {
  const manifest = await readJson(join(folder, 'node_modules', name, 'package.json'));
  return text(manifest?.version) ?? '(not installed)';
}

async function readJson(path: string): Promise<JsonObject | undefined> {
  return parseObject(await readFile(path, 'utf8').catch(() => ''));
}
