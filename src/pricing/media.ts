import { isObject, type JsonObject } from '../base/json.ts';
/** What requests hold beside text. */
export interface Media {
  /** Estimated tokens of all of them, those of sound included. */
  tokens: number;
  audioTokens: number;
  /** How many characters of the request they are. */
  characters: number;
}

/** Images have a few hundred to some thousand tokens, depending on their pixels. */
const tokensPerImage = 1_000;
/** Pages of a document are read as text, and by some providers as an image, too. */
const tokensPerPage = 2_000;
const bytesPerPage = 50_000;
/** Sound has about 32 tokens a second and 16 kB, a film about 300 and 125 kB. */
const bytesPerRecordedToken = 400;
const bytesPerWrittenToken = 4;
/** The size of what is only linked is not known. */
const linkedBytes = 500_000;

/** Parts of the names of members that hold such things; a body without any of them has none. One scan of each body. */
const names = /(?:_url|"source|"input_audio)"|"(?:inline|file)/;

/** The images, documents, sounds and films in the text of a request; `undefined`: there are none. */
export function mediaOf(body: string): Media | undefined {
  if (!names.test(body)) return undefined;
  const media: Media = { tokens: 0, audioTokens: 0, characters: 0 };
  try {
    walk(JSON.parse(body), media);
  } catch {
    // A body that is not JSON could not be sent: its text counts.
  }
  return media.tokens === 0 ? undefined : media;
}

function walk(value: unknown, media: Media): void {
  if (Array.isArray(value)) {
    for (const one of value) walk(one, media);
  } else if (isObject(value)) {
    for (const name in value) {
      if (!readMember(name, value[name], value, media)) walk(value[name], media);
    }
  }
}

/** Adds a member that is such a thing; `false`: it is something else, or holds some. */
function readMember(name: string, value: unknown, parent: JsonObject, media: Media): boolean {
  if (typeof value === 'string') return readText(name, value, parent, media);
  if (!isObject(value)) return false;
  switch (name) {
    case 'source':
      if (value.type === 'base64') return embedded(value.media_type, value.data, media);
      return value.type === 'url' || value.type === 'file' ? linked(parent.type, media) : false;
    case 'inlineData':
    case 'inline_data':
      return embedded(value.mimeType ?? value.mime_type, value.data, media);
    case 'fileData':
    case 'file_data':
      return linked(value.mimeType ?? value.mime_type, media);
    case 'input_audio':
      return embedded('audio', value.data, media);
    case 'image_url':
      return isLink(value.url) && linked('image', media);
    default:
      return false;
  }
}

function readText(name: string, value: string, parent: JsonObject, media: Media): boolean {
  const [, type] = /^data:([^,;]*)[^,]{0,99};base64,/.exec(value.slice(0, 200)) ?? [];
  if (type !== undefined) return embedded(type === '' ? 'image' : type, value, media);
  switch (name) {
    case 'image_url':
      return isLink(value) && linked('image', media);
    case 'document_url':
    case 'file_url':
      return linked('document', media);
    case 'file_data':
      return embedded('document', value, media);
    case 'input_audio':
      return isLink(value) ? linked('audio', media) : embedded('audio', value, media);
    case 'file_id':
      return linked(parent.type === 'input_image' ? 'image' : 'document', media);
    default:
      return false;
  }
}

/** `type`: a media type, or its first word. */
function embedded(type: unknown, data: unknown, media: Media): boolean {
  if (typeof data !== 'string') return false;
  media.characters += data.length;
  add(type, (data.length * 3) / 4, media);
  return true;
}

function linked(type: unknown, media: Media): boolean {
  add(type, linkedBytes, media);
  return true;
}

function add(type: unknown, bytes: number, media: Media): void {
  const [kind] = String(type).split('/');
  const tokens = tokensOf(kind, bytes);
  media.tokens += tokens;
  if (kind === 'audio') media.audioTokens += tokens;
}

function tokensOf(kind: string | undefined, bytes: number): number {
  if (kind === 'image') return tokensPerImage;
  if (kind === 'text') return Math.ceil(bytes / bytesPerWrittenToken);
  if (kind === 'audio' || kind === 'video') return Math.ceil(bytes / bytesPerRecordedToken);
  return Math.ceil(bytes / bytesPerPage) * tokensPerPage;
}

function isLink(value: unknown): value is string {
  return typeof value === 'string' && /^\w+:\/\//.test(value);
}
