import { BatchlingError } from '../../base/errors.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * Google's application-default credentials, for `providers.vertex.credential`: a service account's file, the
 * login of `gcloud`, or the machine's own account. A new token is fetched when the old one expires. Needs the
 * package `google-auth-library`, which is loaded with the first token.
 *
 * @example
 * batchify(fn, { providers: { vertex: { bucket: 'gs://mine', credential: googleCredential() } } });
 */
export function googleCredential(): () => Promise<string> {
  let loading: ReturnType<typeof loadAuth> | undefined;
  return async () => {
    loading ??= loadAuth();
    // A package that is missing now may be there for the next call.
    loading.catch(() => {
      loading = undefined;
    });
    const token = await (await loading).getAccessToken();
    if (typeof token === 'string' && token !== '') return token;
    throw new BatchlingError('NOT_AVAILABLE', 'Google gave no token for these credentials.');
  };
}

async function loadAuth() {
  const { GoogleAuth } = await import('google-auth-library').catch((cause: unknown) => {
    throw new BatchlingError(
      'NOT_AVAILABLE',
      'googleCredential() needs the package google-auth-library: npm install google-auth-library',
      { cause },
    );
  });
  return new GoogleAuth({ scopes: [scope] });
}
