import { vi } from 'vitest';

/** Everything written to stderr from now on; it is not shown. Undone by `vi.restoreAllMocks()`. */
export function hearStderr(): { text(): string; lines(): string[] } {
  let heard = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    heard += String(text);
    return true;
  });
  return { text: () => heard, lines: () => heard.split('\n').filter(Boolean) };
}
