import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtInInfos } from '../../src/batchers/registry.ts';
import { root } from './code-blocks.ts';

it('docs/gateway.md lists the variables that exec --gateway sets', () => {
  const page = readFileSync(join(root, 'docs/gateway.md'), 'utf8');
  const rows = builtInInfos.flatMap(({ name: provider, hosts, baseUrlVariables = [] }) =>
    baseUrlVariables
      .filter(({ usual }) => hosts.includes(new URL(usual).host))
      .map(({ name, readBy }) => `| \`${name}\` | \`${provider}\` | ${readBy} |`),
  );
  expect(page.match(/^\| `\w+_BASE_URL` .*/gm)).toEqual(rows);
});
