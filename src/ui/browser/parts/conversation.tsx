import { useState } from 'preact/hooks';
import type { TextJson } from '../../api-types.ts';
import { parseShallow } from '../../readable/parse-shallow.ts';
import { type Message, type Part, type Readable, readable } from '../../readable/readable.ts';
import { number } from '../words.ts';
import { Boundary } from './boundary.tsx';
import { JsonTree } from './json-tree.tsx';
import { Copy } from './pieces.tsx';
import { PlainText, Words } from './plain-text.tsx';

/** Of a list: a browser cannot show a million of anything. */
const mostShown = 500;

interface Given {
  readonly kind: 'question' | 'answer';
  readonly given: TextJson | undefined;
  /** Why there is none. */
  readonly otherwise: string;
}

/** A question or an answer: as people read it, or raw. */
export function Conversation({ kind, given, otherwise }: Given) {
  const [isRaw, showRaw] = useState(false);
  const title = kind === 'question' ? 'Question' : 'Answer';
  if (given === undefined) {
    return (
      <section class="card conversation" aria-label={title}>
        <header>
          <h2>{title}</h2>
        </header>
        <p class="quiet">{otherwise}</p>
      </section>
    );
  }
  const read = readable(kind, given.text);
  const canRead = read !== undefined && read.messages.length > 0;
  return (
    <section class="card conversation" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="buttons">
          {canRead && (
            <button
              type="button"
              class="small"
              aria-pressed={isRaw}
              onClick={() => showRaw(!isRaw)}
            >
              Raw
            </button>
          )}
          <Copy text={given.text} label="Copy" />
        </span>
      </header>
      {canRead && !isRaw ? (
        <Boundary
          otherwise={
            <button type="button" class="small" onClick={() => showRaw(true)}>
              Show the raw form
            </button>
          }
        >
          <Reading read={read} />
        </Boundary>
      ) : (
        <div class="raw">
          <PlainText text={given.text} whole={given.whole} />
        </div>
      )}
    </section>
  );
}

function Reading({ read: { messages, tools, settings } }: { read: Readable }) {
  return (
    <>
      {messages.slice(0, mostShown).map((message, index) => (
        <MessageView key={index} message={message} />
      ))}
      <Rest of={messages.length} />
      {tools.length > 0 && (
        <details class="more">
          <summary>Tools ({tools.length})</summary>
          {tools.slice(0, mostShown).map(({ name, description, schema }) => (
            <div key={name} class="tool">
              <strong>
                <Words text={name} />
              </strong>
              {description && <PlainText text={description} />}
              {schema !== undefined && <JsonTree value={schema} depth={1} />}
            </div>
          ))}
          <Rest of={tools.length} />
        </details>
      )}
      {settings.length > 0 && (
        <details class="more">
          <summary>
            {settings.length === 1 ? '1 more field' : `${settings.length} more fields`}
          </summary>
          <JsonTree value={Object.fromEntries(settings)} />
        </details>
      )}
    </>
  );
}

function MessageView({ message: { role, parts } }: { message: Message }) {
  return (
    <div class={`message ${role === 'error' ? 'error' : ''}`}>
      <h3>
        <Words text={role} />
      </h3>
      {parts.length === 0 && <p class="quiet">Nothing.</p>}
      <Parts parts={parts} />
    </div>
  );
}

function Parts({ parts }: { parts: readonly Part[] }) {
  return (
    <>
      {parts.slice(0, mostShown).map((part, index) => (
        <PartView key={index} part={part} />
      ))}
      <Rest of={parts.length} />
    </>
  );
}

function Rest({ of }: { of: number }) {
  if (of <= mostShown) return null;
  return <p class="quiet">{number(of - mostShown)} more are in the raw form.</p>;
}

function PartView({ part }: { part: Part }) {
  switch (part.kind) {
    case 'text':
      return <TextPart text={part.text} />;
    case 'thinking':
      return (
        <details class="more">
          <summary>Thinking</summary>
          <PlainText text={part.text} />
        </details>
      );
    case 'media':
      return (
        <p class="media">
          <PlainText text={part.label} />
        </p>
      );
    case 'call':
      return (
        <div class="tool">
          <strong>
            Calls <Words text={part.name} />
          </strong>
          <JsonTree value={part.input} />
        </div>
      );
    case 'result':
      return (
        <div class="tool">
          <strong>
            Result of <Words text={part.name} />
          </strong>
          <Parts parts={part.parts} />
        </div>
      );
    case 'json':
      return <JsonTree value={part.value} />;
  }
}

/** A text that is JSON, as structured outputs are, can be folded. */
function TextPart({ text }: { text: string }) {
  const json = /^\s*[[{]/.test(text) ? parseShallow(text) : undefined;
  return json === undefined ? <PlainText text={text} /> : <JsonTree value={json} />;
}
