import { BatchlingError } from '../../../base/errors.ts';
import { codeOf, contradiction, IS_FULL, unusable } from '../../sql/unusable.ts';

/** The way to go on after an error of the server or of the connection. */
export type Remedy =
  /** The server is not there, or not yet: wait for it. Whether a COMMIT arrived is not known. */
  | 'reconnect'
  /** It may pass soon; it is not waited for as long as a server that is not there. */
  | 'retry-soon'
  /** Two transactions met: the same again, at once. */
  | 'repeat'
  | 'give-up';

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** Shutdown by an administrator, crash of the server, start-up, and a transaction that was idle for long. */
const SERVER_AWAY = new Set(['57P01', '57P02', '57P03', '25P03', '57P05']);

/** The driver reports these without a code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client has encountered a connection error|Client was closed|Client network socket disconnected)/;

/** The driver says so without a code. */
const NO_TLS = 'The server does not support SSL connections';

/** Codes of Node about a certificate. */
const CERTIFICATE = /CERT|UNABLE_TO_(VERIFY|GET)_/;

const TOO_MANY_CONNECTIONS = '53300';
const READ_ONLY = '25006';

const EXPLANATIONS: Readonly<Record<string, string>> = {
  '28P01': 'the server refuses the user or the password. Correct the URL, or set PGPASSWORD.',
  '28000':
    'the server does not let this user in from here. Correct the user, or the pg_hba.conf of the server.',
  '3D000': 'there is no such database. Create it, or correct the URL.',
  '42501':
    'this user lacks a right. It has to own the schema, or the database has to let it create one (GRANT CREATE ON DATABASE).',
  [READ_ONLY]: 'the server is read-only, such as a replica. Name the primary server.',
  '53100': `the disk of the server ${IS_FULL}`,
  '53200': 'the server is out of memory.',
  [TOO_MANY_CONNECTIONS]:
    'the server has no connection left. Raise its max_connections, end other programs, or put a pooler in session mode in front of it.',
};

export function remedyFor(error: unknown): Remedy {
  if (BatchlingError.isInstance(error)) return 'give-up';
  const code = codeOf(error);
  if (code === '40001' || code === '40P01') return 'repeat';
  if (code === TOO_MANY_CONNECTIONS || code === READ_ONLY) return 'retry-soon';
  if (code !== undefined && (SERVER_AWAY.has(code) || /^08...$/.test(code))) return 'reconnect';
  if (code !== undefined && NETWORK_CODES.has(code)) return 'reconnect';
  const message = error instanceof Error ? error.message : '';
  return DRIVER_MESSAGES.test(message) ? 'reconnect' : 'give-up';
}

/** Says what the error means for the user of this store. Our own errors pass as they are. */
export function explainStoreError(shown: string, error: unknown): unknown {
  if (BatchlingError.isInstance(error)) return error;
  const code = codeOf(error);
  const known = code === undefined ? undefined : EXPLANATIONS[code];
  if (known !== undefined) return unusable(shown, known, error);
  const message = error instanceof Error ? error.message || code : code;
  if (message === NO_TLS) {
    return unusable(
      shown,
      'the server offers no TLS, and the URL wants it. Switch it on at the server, or leave out sslmode.',
      error,
    );
  }
  if (code !== undefined && CERTIFICATE.test(code)) {
    return unusable(
      shown,
      `the certificate of the server is not accepted (${code}). Name the one that has signed it with sslrootcert.`,
      error,
    );
  }
  if (code?.startsWith('23')) return contradiction(shown, error);
  if (remedyFor(error) === 'reconnect') {
    return unusable(shown, `the server cannot be reached (${message}).`, error);
  }
  return unusable(shown, 'PostgreSQL or its driver reports an error (see its cause).', error);
}
