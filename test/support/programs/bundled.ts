import { batchify } from '../../../src/index.ts';
import { options, request, url } from './source.ts';

void batchify(() => fetch(url, request), options).then(async (response) => {
  console.log(JSON.stringify([response.status, await response.text()]));
});
