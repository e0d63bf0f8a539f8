import { createHmac } from 'node:crypto';
import type { Finding } from '../finding.ts';
import { mergeFindings } from '../spans.ts';
import { exactForms } from './exact-forms.ts';
import { canonicalOf } from './folded-text.ts';

/**
 * The hashes of a value and of the texts that are this value, whole, as formats and encoders write it; the first is that of
 * the value. A text in capitals, turned round or in pieces is another value: it could be a secret of its own.
 */
export function hashForms(key: Buffer, value: string): [string, ...string[]] {
  const id = hashOf(key, value);
  const written = exactForms(canonicalOf(value), true).filter(({ shows }) => shows !== 'trace');
  const forms = [...written.map(({ text }) => text), ...wholeEncodings(value)].map((text) => hashOf(key, text));
  return [id, ...new Set(forms.filter((form) => form !== id))];
}

/** The value alone, or the line of it, as an encoder prints it. */
function wholeEncodings(value: string): string[] {
  return [value, `${value}\n`].flatMap((text) => {
    const bytes = Buffer.from(text);
    const base64 = bytes.toString('base64');
    const hex = bytes.toString('hex');
    return [base64, base64.replace(/=+$/, ''), bytes.toString('base64url'), hex, hex.toUpperCase()];
  });
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
   * The findings without those of allowed values, without those inside an allowed value, and without those in which
   * nothing but allowed values is encoded. A finding that is longer than the allowed value stays whole. `innerOf`: what is
   * encoded in a known value.
   */
  without<T extends Finding & { holds?: boolean }>(
    text: string,
    findings: readonly T[],
    innerOf: (value: string) => readonly string[] | undefined = () => undefined,
  ): T[] {
    const allowed = mergeFindings(findings).filter(({ start, end }) => this.has(text.slice(start, end)));
    const isAllowed = (value: string): boolean => this.has(value) || this.#hasAll(innerOf(value));
    return findings.filter(
      ({ start, end, of, holds, inner }) =>
        !allowed.some((place) => place.start <= start && end <= place.end) &&
        !this.has(text.slice(start, end)) &&
        !this.#hasAll(inner) &&
        !(of !== undefined && holds === true && isAllowed(of)),
    );
  }

  #hasAll(values: readonly string[] | undefined): boolean {
    return values !== undefined && values.length > 0 && values.every((value) => this.has(value));
  }
}

function hashOf(key: Buffer, text: string): string {
  return createHmac('sha256', key)
    .update(Buffer.from(canonicalOf(text), 'utf16le'))
    .digest('hex');
}
