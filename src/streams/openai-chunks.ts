import { type JsonObject, objectsOf } from '../base/json.ts';
import { dataEvent } from './sse.ts';
import { type StreamDialect, streamDialect } from './stream-dialect.ts';

export interface ChunkOptions {
  /** `stream_options.include_usage` of the request: a last chunk tells the tokens. */
  readonly includeUsage: boolean;
}

/** Tells one choice of an answer as the choices of its chunks. */
type TellChoice = (choice: JsonObject, position: number) => readonly JsonObject[];

/** An answer with `choices` as chunks that look like it, each with a piece of one choice. */
export function chunkDialect(
  object: string,
  { includeUsage }: ChunkOptions,
  tellChoice: TellChoice,
): StreamDialect {
  return streamDialect((answer) => {
    const { choices, usage, ...rest } = answer;
    const common = { ...rest, object };
    const noUsage = includeUsage ? { usage: null } : {};
    const pieces = objectsOf(choices).flatMap(tellChoice);
    const chunks = pieces.map((piece) => ({ ...common, choices: [piece], ...noUsage }));
    // Without a choice there is still something to tell: some services put an error here.
    const told: JsonObject[] =
      chunks.length > 0 ? chunks : [{ ...common, choices: [], ...noUsage }];
    if (includeUsage) told.push({ ...common, choices: [], usage: usage ?? null });
    return `${told.map(dataEvent).join('')}data: [DONE]\n\n`;
  });
}
