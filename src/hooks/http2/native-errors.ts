// The errors of native sessions and streams, by their codes.

export const internalError = 2;
export const cancelled = 8;

/** Thrown as by a native session that takes no more requests. */
export function refusedRequest(isDestroyed: boolean): Error {
  return isDestroyed
    ? errorWith('ERR_HTTP2_INVALID_SESSION', 'The session has been destroyed')
    : errorWith(
        'ERR_HTTP2_GOAWAY_SESSION',
        'New streams cannot be created after receiving a GOAWAY',
      );
}

/** What a native session makes of a code that it is destroyed with. */
export function sessionError(code: number): Error | undefined {
  if (code === 0) return undefined;
  return errorWith('ERR_HTTP2_SESSION_ERROR', `Session closed with error code ${code}`);
}

/** What a native stream makes of a code that it is closed with. */
export function streamError(code: number): Error | undefined {
  if (code === 0 || code === cancelled) return undefined;
  return errorWith('ERR_HTTP2_STREAM_ERROR', `Stream closed with error code ${code}`);
}

function errorWith(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
