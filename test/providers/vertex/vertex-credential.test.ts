import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { googleCredential } from '../../../src/batchers/index.ts';
import { batchify } from '../../../src/index.ts';
import { askGemini, openVertexStage } from './vertex-stage.ts';

/** A place where identities of a workload are exchanged for tokens, and the file that says so. */
async function startTokens() {
  const asked: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    asked.push(new URLSearchParams(await text(request)));
    const granted = { access_token: `ya29.granted-${asked.length}`, expires_in: 3600 };
    const issued = { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...granted, ...issued, token_type: 'Bearer' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'batchling-account-'));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  const identity = join(folder, 'identity');
  await writeFile(identity, 'who-i-am');
  const file = join(folder, 'credentials.json');
  const account = {
    type: 'external_account',
    audience:
      '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    credential_source: { file: identity },
  };
  await writeFile(file, JSON.stringify(account));
  return { file, asked };
}

it('googleCredential gets tokens with the application-default credentials, and keeps them while they last', async () => {
  const { file, asked } = await startTokens();
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
  // Otherwise the library asks Google for the name of the project.
  vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'my-project');
  onTestFinished(() => void vi.unstubAllEnvs());
  const stage = await openVertexStage();
  onTestFinished(() => stage.close());
  const credential = googleCredential();
  expect(await credential()).toMatch(/^ya29\.granted-/);
  const answer = await batchify(
    () => askGemini(stage.gemini(), 'one'),
    stage.vertexOptions({ providers: { vertex: { credential } } }),
  );
  expect(answer).toContain('answer to "one"');
  expect(asked).toHaveLength(1);
  expect(asked[0]?.get('subject_token')).toBe('who-i-am');
  expect(asked[0]?.get('scope')).toContain('cloud-platform');
});
