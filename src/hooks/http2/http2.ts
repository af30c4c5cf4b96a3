import type {
  ClientHttp2Session,
  ClientSessionOptions,
  SecureClientSessionOptions,
} from 'node:http2';
import { hasOwnCheck } from '../node-http/node-http.ts';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope } from '../state.ts';
import { LazySession } from './lazy-session.ts';
import { watchRequests } from './session-request.ts';

type Options = ClientSessionOptions | SecureClientSessionOptions;
type Listener = (...values: unknown[]) => void;
type Connect = (
  authority: string | URL,
  options?: Options | Listener,
  listener?: Listener,
) => ClientHttp2Session;

/**
 * Wraps `http2.connect`, by which the AWS SDK reaches Bedrock. Only a session with a host that the current scope knows
 * is not the native one: it opens its connection when something has to go out over it. Of others the requests are
 * looked at, unless their client brings a connection of its own.
 *
 * @returns the undo.
 */
export function hookHttp2(): () => void {
  return patch(http2Module(), 'connect', wrapConnect, 'http2.connect');
}

export function isHttp2Hooked(): boolean {
  return isPatched(http2Module(), 'connect');
}

/** Not imported: a program that never opens a scope does not load `node:http2`. */
function http2Module(): { connect: Connect } {
  return process.getBuiltinModule('node:http2') as unknown as { connect: Connect };
}

function wrapConnect(original: Connect): Connect {
  return function connect(this: unknown, ...parameters) {
    const [authority, options, listener] = parameters;
    const scope = hasOwnConnection(options) ? undefined : currentScope();
    const origin = scope?.knowsHost && originOf(authority);
    if (origin === undefined) return Reflect.apply(original, this, parameters);
    const place = { origin, checksServer: hasOwnCheck(options) };
    if (scope?.knowsHost?.(origin) !== true) {
      const native = Reflect.apply(original, this, parameters);
      watchRequests(native, place);
      return native;
    }
    const session = new LazySession({
      ...place,
      // Its listener is told by our session, with our session.
      open: () => original(authority, typeof options === 'function' ? undefined : options),
    });
    const onConnect = typeof options === 'function' ? options : listener;
    if (onConnect) session.once('connect', onConnect);
    return session as unknown as ClientHttp2Session;
  };
}

/** Its client has a connection already, and gives its requests up when that one ends, whoever answers them. */
function hasOwnConnection(options: unknown): boolean {
  return (options as ClientSessionOptions | undefined)?.createConnection !== undefined;
}

function originOf(authority: unknown): string | undefined {
  const text =
    typeof authority === 'string' ? authority : authority instanceof URL && authority.href;
  return text !== false && URL.canParse(text) ? new URL(text).origin : undefined;
}
