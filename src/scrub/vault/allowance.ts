import { createHmac } from 'node:crypto';
import type { Finding } from '../finding.ts';
import { mergeFindings } from '../spans.ts';
import { exactForms } from './exact-forms.ts';
import { canonicalOf } from './folded-text.ts';

/** The hashes of a value and of the forms in which programs write it; the first is that of the value. */
export function hashForms(key: Buffer, value: string): [string, ...string[]] {
  const id = hashOf(key, value);
  const texts = [...exactForms(canonicalOf(value), false).map(({ text }) => text), ...wholeEncodings(value)];
  const forms = texts.map((text) => hashOf(key, text));
  return [id, ...new Set(forms.filter((form) => form !== id))];
}

/** The value alone, or the line of it, as an encoder prints it; the guard looks for the middle of these only. */
function wholeEncodings(value: string): string[] {
  const [plain, line] = [Buffer.from(value), Buffer.from(`${value}\n`)];
  const base64 = [plain, line].map((bytes) => bytes.toString('base64'));
  const hex = [plain, line].flatMap((bytes) => [bytes.toString('hex'), bytes.toString('hex').toUpperCase()]);
  const url = [plain, line].map((bytes) => bytes.toString('base64url'));
  return [...base64, ...base64.map((text) => text.replace(/=+$/, '')), ...url, ...hex, [...value].reverse().join('')];
}

/** What a person declared no secret in a project. */
export class Allowance {
  readonly #key: Buffer;
  readonly #forms: ReadonlySet<string>;
  readonly #known = new Map<string, boolean>();

  /** `forms`: hashes that `hashForms` made with the key. */
  constructor(key: Buffer, forms: ReadonlySet<string>) {
    this.#key = key;
    this.#forms = forms;
  }

  /** Whether a text is a whole value that was allowed, or a form of one. */
  has(text: string): boolean {
    let isAllowed = this.#known.get(text);
    if (isAllowed === undefined) {
      isAllowed = this.#forms.has(hashOf(this.#key, text));
      this.#known.set(text, isAllowed);
    }
    return isAllowed;
  }

  /**
   * The findings without those of allowed values, and without those inside an allowed value. A finding that is longer than
   * the allowed value stays whole.
   */
  without<T extends Finding>(text: string, findings: readonly T[]): T[] {
    const allowed = mergeFindings(findings).filter(({ start, end }) => this.has(text.slice(start, end)));
    return findings.filter(
      ({ start, end, of }) =>
        !allowed.some((place) => place.start <= start && end <= place.end) &&
        !this.has(text.slice(start, end)) &&
        (of === undefined || !this.has(of)),
    );
  }
}

function hashOf(key: Buffer, text: string): string {
  return createHmac('sha256', key)
    .update(Buffer.from(canonicalOf(text), 'utf16le'))
    .digest('hex');
}
