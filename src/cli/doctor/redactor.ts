import { Buffer } from 'node:buffer';
import { parseJson } from '../../base/json.ts';

/** Names of fields that say whose account it is, without dashes and underscores. */
const personal =
  /^(account|billing|company|contact|(?:created|updated)by|creator|customer|displayname|email|fullname|firstname|lastname|login|nameof\w+|org|organi[sz]ation|owner|phone|project|secret|subscription|team|tenant|token|user|workspace|\w*apikey)(user)?(id|name|email|key|slug|title|uri|url)?$/i;
/** Texts that nobody may see, wherever they stand. */
const patterns: readonly RegExp[] = [
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  /\b(?:org|proj|project|user|acct|account|team|tenant|wrkspc|workspace|ws|key)[-_:](?=\w*[A-Z\d])[\w-]+/g,
  // Escaped, or with stars in it as providers show it.
  /\b(?:sk|gsk|pk|xai|AIza|AKIA|ASIA|ya29|eyJ)[-_.%*\w]{6,}/g,
  // Accounts of AWS, in the names of its resources.
  /(?<=:)\d{12}(?=:)/g,
];
/** What looks drawn by lot: a long word in which digits stand, such as an id, a key or a hash. */
const random = /(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[A-Za-z\d][\w+=-]{14,}/g;
/** Dated names of models, and times. */
const known =
  /^(?:\d{4}-\d\d-\d\dT[\w+-]*|[a-z][a-z.-]*[\w.-]*-(?:20\d\d[01]\d[0-3]\d|\d{4}-\d\d-\d\d))$/;
/** Names of resources that hold the one of an account: `accounts/my-team/datasets/d`. */
const resource = /\b(accounts|organizations|projects|teams|workspaces)\/([\w.-]+)/g;
const signedQuery = /(https?:\/\/[^\s"'?]+)\?[^\s"']+/g;

/**
 * Takes out of a provider's replies what belongs to one account: credentials, names, addresses, ids, signatures. The
 * same text is always replaced by the same other one, so that replies still fit together.
 */
export class Redactor {
  readonly #secrets: readonly RegExp[];
  readonly #numbers = new Map<string, number>();

  /** What we have sent ourselves is no secret. */
  readonly #open: string;

  /** `secrets`: credentials as they were sent. `open`: what was sent besides. */
  constructor(secrets: readonly string[], open = '') {
    this.#open = open;
    const whole = secrets.flatMap((secret) => [secret, secret.replace(/^\w+ +/, '')]);
    const all = whole.filter(Boolean).flatMap((text) => {
      const bytes = Buffer.from(text);
      const hidden = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
      return [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), ...hidden];
    });
    // Longer ones first: one may be a part of another.
    const longest = [...new Set(all)].sort((one, other) => other.length - one.length);
    // Hexadecimal digits and escapes are written in either case.
    this.#secrets = longest.map((text) => new RegExp(text.replace(/[^\w]/g, '\\$&'), 'gi'));
  }

  /** A text: JSON, lines of JSON, or anything. */
  body(text: string): unknown {
    // A file of one line is no JSON: its end says that it is whole.
    const whole = text.endsWith('\n') ? undefined : parseJson(text);
    if (whole !== undefined) return this.#value(whole, '');
    return text
      .split('\n')
      .map((line) => {
        const value = parseJson(line);
        return value === undefined ? this.text(line) : JSON.stringify(this.#value(value, ''));
      })
      .join('\n');
  }

  text(given: string): string {
    const text = this.#named(given);
    return text.replace(random, (found) => (this.#isOpen(found) ? found : this.#instead(found)));
  }

  /** Without credentials and names. The name of a field may be as long as an id, and is none. */
  #named(given: string): string {
    let text = given;
    for (const secret of this.#secrets) text = text.replace(secret, 'credential');
    text = text.replace(signedQuery, '$1?signed');
    text = text.replace(resource, (found, kind: string, name: string) =>
      this.#open.includes(`${found}/`) ? found : `${kind}/${this.#instead(name, '')}`,
    );
    for (const pattern of patterns) text = text.replace(pattern, (found) => this.#instead(found));
    return text;
  }

  #value(value: unknown, field: string): unknown {
    const isPersonal = personal.test(field.replace(/[-_]/g, ''));
    if (typeof value === 'number') return isPersonal ? 0 : value;
    if (typeof value === 'string') {
      return isPersonal && value !== '' ? this.#instead(value, '') : this.text(value);
    }
    if (Array.isArray(value)) return value.map((one) => this.#value(one, field));
    if (typeof value !== 'object' || value === null) return value;
    const inside = isPersonal ? 'owner' : '';
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        // A path in the place of a name has ids in it.
        name.includes('/') ? this.text(name) : this.#named(name),
        this.#value(one, inside || name),
      ]),
    );
  }

  #isOpen(found: string): boolean {
    return known.test(found) || this.#open.includes(found);
  }

  /** It keeps the kind of an id: `batch_redacted1`. The first word of a name may be somebody's. */
  #instead(found: string, kind = kindOf(found)): string {
    if (/^\w*[-_]?redacted\d+$/.test(found)) return found;
    if (found.includes('@')) return 'redacted@example.com';
    // One id may be written in several ways: `bl_Ab1`, and `bl-ab1` where names have other letters.
    const id = found.toLowerCase().replace(/_/g, '-');
    const number = this.#numbers.get(id) ?? this.#numbers.size + 1;
    this.#numbers.set(id, number);
    return `${kind}redacted${number}`;
  }
}

function kindOf(id: string): string {
  const [kind = ''] = /^[a-z]{2,10}[-_](?=\w)/.exec(id) ?? [];
  return kind;
}
