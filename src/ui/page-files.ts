import { readFile } from 'node:fs/promises';

export interface PageFile {
  readonly type: string;
  readonly body: string | Buffer;
}

/** Nothing is loaded from elsewhere, nothing inline is run, and no other page can show this one in a frame. */
export const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types',
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>batchling</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="page.css">
<script type="module" src="page.js"></script>
</head>
<body>
<div id="page"><noscript>This page needs JavaScript. In a terminal, batchling ls shows the same.</noscript></div>
</body>
</html>
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#0f6b6b"/>
<path d="M8 10h16M8 16h11M8 22h6" stroke="#fff" stroke-width="3.2" stroke-linecap="round"/>
</svg>
`;

/** The bundle lies in dist/ui, seen from this module's chunk, which lies one folder below dist. */
const built = new URL('../ui/', import.meta.url);
/** Run from the sources, there is none: the script of the build makes it, once for the process. */
const bundler = new URL('../../scripts/bundle-page.mjs', import.meta.url);

let bundle: Promise<{ script: string; style: string }> | undefined;

/** A file of the page by its name; `undefined`: there is no such file. */
export async function pageFile(name: string): Promise<PageFile | undefined> {
  if (name === '') return { type: 'text/html; charset=utf-8', body: html };
  if (name === 'icon.svg') return { type: 'image/svg+xml', body: icon };
  if (name !== 'page.js' && name !== 'page.css') return undefined;
  bundle ??= loadBundle();
  const { script, style } = await bundle;
  return name === 'page.js'
    ? { type: 'text/javascript; charset=utf-8', body: script }
    : { type: 'text/css; charset=utf-8', body: style };
}

async function loadBundle(): Promise<{ script: string; style: string }> {
  if (import.meta.url.endsWith('.ts')) return (await import(bundler.href)).bundlePage();
  const [script, style] = await Promise.all(
    ['page.js', 'page.css'].map((name) => readFile(new URL(name, built), 'utf8')),
  );
  return { script: script as string, style: style as string };
}
