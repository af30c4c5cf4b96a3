/** The same machine under its other name, so that clients see two origins. */
export function otherHost(origin: string): string {
  const url = new URL(origin);
  if (url.hostname === '127.0.0.1') url.hostname = 'localhost';
  else if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  return url.href.replace(/\/$/, '');
}
