import { useState } from 'preact/hooks';
import { counted, number } from '../words.ts';
import { PlainText, Words } from './plain-text.tsx';

const openDepth = 1;
const mostShown = 200;

/** JSON that can be folded. Lists and objects deeper down are closed at first. */
export function JsonTree({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (typeof value === 'string') return <PlainText text={value} />;
  if (typeof value !== 'object' || value === null) return <code>{String(value)}</code>;
  return <Branch value={value} depth={depth} />;
}

/** What is in it is made once it is opened: a whole tree may have millions of branches. */
function Branch({ value, depth }: { value: object; depth: number }) {
  const entries: (readonly [string, unknown])[] = Object.entries(value);
  const [isOpen, open] = useState(depth < openDepth && entries.length <= 30);
  if (entries.length === 0) return <code>{Array.isArray(value) ? '[]' : '{}'}</code>;
  return (
    <details class="tree" open={isOpen} onToggle={(event) => open(event.currentTarget.open)}>
      <summary>
        {Array.isArray(value)
          ? `list of ${number(entries.length)}`
          : counted(entries.length, 'field')}
      </summary>
      {isOpen && (
        <>
          <dl>
            {entries.slice(0, mostShown).map(([key, one]) => (
              <div key={key}>
                <dt>
                  <Words text={key} />
                </dt>
                <dd>
                  <JsonTree value={one} depth={depth + 1} />
                </dd>
              </div>
            ))}
          </dl>
          {entries.length > mostShown && <p class="quiet">The rest is in the raw form.</p>}
        </>
      )}
    </details>
  );
}
