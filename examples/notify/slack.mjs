// A message in Slack: SLACK_WEBHOOK_URL=… batchling run --on-done 'node slack.mjs' answer-all.ts
import { text as textOf } from 'node:stream/consumers';

const { outcome, text, stats, dollars = stats?.dollars } = JSON.parse(await textOf(process.stdin));
const saved = dollars?.saved ? ` Saved $${dollars.saved.toFixed(2)}.` : '';
const response = await fetch(process.env.SLACK_WEBHOOK_URL ?? '', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: `${outcome === 'done' ? '✅' : '❌'} ${text}.${saved}` }),
  signal: AbortSignal.timeout(30_000),
});
if (!response.ok) throw new Error(`Slack answered ${response.status}: ${await response.text()}`);
