import { type ExactForm, exactForms } from './exact-forms.ts';
import { canonicalOf } from './folded-text.ts';
import { type Body, bodyOf, FORM_KINDS, type FormKind, isRich, sourceOf } from './forms.ts';
import { type Budget, WindowIndex } from './grams.ts';

/** Characters of the window by which a text is found that is looked for as it is. */
const EXACT_WINDOW = 8;
/**
 * Letters and digits of the windows by which pieces are found: fewer would hit ordinary text, more would miss short
 * pieces.
 */
export const PIECE_WINDOW = 12;
/** Most windows of one form. Longer forms register fewer of them, so their shortest pieces are not found. */
const MAX_STEPS = 2048;
/** Of longer values only pieces of the commonest forms are searched for. */
const MAX_CHARS_IN_ALL_FORMS = 4096;
/** Most windows of pieces: 32 MB. Later values are only searched for as a whole. */
const MAX_WINDOWS = 2_900_000;
/** Most sources of one window. A piece that more values share is found by the rest of each value. */
const MAX_SHARED = 4;
/** Windows of a form of which the rarest is chosen. */
const CANDIDATES = 32;
/** Most characters of values whose forms are kept after a comparison. */
const MAX_KEPT_CHARS = 512 * 1024;
/** Steps of a search that making forms costs. */
const STEPS_TO_MAKE = 2000;
const STEPS_TO_MAKE_ALL = 20_000;
/** Different characters that a window of a piece must have. */
const MIN_DIFFERENT = 4;

/** In which forms a value is searched for. */
export type KnownForms = 'all' | 'as it is';

export interface KnownValue {
  value: string;
  rule: string;
  /** Whether pieces of it are searched for, not only the whole. */
  byPieces: boolean;
  /** Whether it is a line of a value that is too long to be searched for. */
  isLine: boolean;
}

interface MadeForms {
  exact: ExactForm[] | undefined;
  body: Body;
  forms: Map<number, string>;
}

/** The values of a guard in the form in which a text is searched for them. */
export class KnownValues {
  readonly exact = new WindowIndex(EXACT_WINDOW);
  readonly pieces = new WindowIndex(PIECE_WINDOW);
  readonly #values: KnownValue[] = [];
  readonly #made = new Map<number, MadeForms>();
  #keptChars = 0;

  get size(): number {
    return this.#values.length;
  }

  at(owner: number): KnownValue | undefined {
    return this.#values[owner];
  }

  /** `forms`: `all` that it may be shown in, or only the value `as it is`, which takes a hundredth of the time. */
  add(value: string, rule: string, { isLine, forms }: { isLine: boolean; forms: KnownForms }): void {
    const owner = this.#values.length;
    const byPieces = forms === 'all' && isRich(value) && this.pieces.size < MAX_WINDOWS;
    const known = { value, rule, byPieces, isLine };
    this.#values.push(known);
    if (forms === 'as it is') {
      this.#addExact(owner, 0, value);
      return;
    }
    const body = bodyOf(value);
    const exact = exactFormsOf(known, body);
    for (const [form, { text }] of exact.entries()) this.#addExact(owner, form, text);
    for (const [form, kind] of FORM_KINDS.entries()) this.#addPieces(owner, form, kind, body, byPieces);
  }

  exactForm(owner: number, form: number, budget: Budget): ExactForm | undefined {
    const found = this.#values[owner];
    if (found === undefined) return undefined;
    if (form === 0) return { text: found.value, shows: 'value', run: null };
    const made = this.#formsOf(owner, found, budget);
    if (made.exact === undefined) {
      budget.spend(STEPS_TO_MAKE_ALL + found.value.length * 16);
      made.exact = exactFormsOf(found, made.body);
    }
    return made.exact[form];
  }

  /** A form of a value to be looked for by pieces; empty if not found. */
  form(owner: number, form: number, budget: Budget): string {
    const found = this.#values[owner];
    if (found === undefined) return '';
    const made = this.#formsOf(owner, found, budget);
    let text = made.forms.get(form);
    if (text === undefined) {
      budget.spend(STEPS_TO_MAKE + found.value.length * 4);
      text = FORM_KINDS[form]?.derive(made.body) ?? '';
      made.forms.set(form, text);
    }
    return text;
  }

  /** Undefined unless a form of the value was compared recently. */
  body(owner: number): Body | undefined {
    return this.#made.get(owner)?.body;
  }

  #formsOf(owner: number, { value }: KnownValue, budget: Budget): MadeForms {
    const known = this.#made.get(owner);
    if (known !== undefined) return known;
    budget.spend(STEPS_TO_MAKE + value.length * 4);
    this.#keptChars += value.length;
    if (this.#keptChars > MAX_KEPT_CHARS) {
      this.#made.clear();
      this.#keptChars = value.length;
    }
    const made = { exact: undefined, body: bodyOf(value), forms: new Map<number, string>() };
    this.#made.set(owner, made);
    return made;
  }

  #addExact(owner: number, form: number, text: string): void {
    const offset = rarestWindow(this.exact, text);
    this.exact.add(text, offset, { owner, form, step: offset });
  }

  #addPieces(owner: number, form: number, kind: FormKind, body: Body, byPieces: boolean): void {
    if (!byPieces && !kind.isDump) return;
    if (body.text.length > MAX_CHARS_IN_ALL_FORMS && !kind.isForLong) return;
    const text = kind.derive(body);
    if (text.length < (byPieces ? kind.least : PIECE_WINDOW)) return;
    if (!byPieces) {
      const stride = stepChars(kind, text);
      const offset = Math.floor(rarestWindow(this.pieces, text) / stride) * stride;
      this.pieces.add(text, offset, { owner, form, step: offset / stride });
      return;
    }
    const stride = stepChars(kind, text);
    for (let at = 0; at + PIECE_WINDOW <= text.length; at += stride) {
      if (body.isCommonWord[sourceOf(body, kind, text, at, PIECE_WINDOW)] === 1) continue;
      if (differentIn(text, at, PIECE_WINDOW) < MIN_DIFFERENT) continue;
      this.pieces.add(text, at, { owner, form, step: at / stride }, MAX_SHARED);
    }
  }
}

function exactFormsOf({ value, byPieces }: KnownValue, { plain }: Body): ExactForm[] {
  return exactForms(value, byPieces && plain.length >= PIECE_WINDOW);
}

/** Characters from one registered window of a form to the next. */
export function stepChars(kind: FormKind, text: string): number {
  return Math.max(kind.stride, Math.ceil(text.length / MAX_STEPS));
}

/** Characters of a form that must agree; all of it when only the whole value is looked for. */
export function leastOf({ byPieces }: KnownValue, kind: FormKind, text: string): number {
  return byPieces ? kind.least : text.length;
}

/** The lines of a key that is too long to be looked for as a whole. */
export function keyLines(value: string): string[] {
  const lines = canonicalOf(value).split('\n');
  return lines.length === 1 ? [] : lines.map((line) => line.trim()).filter((line) => KEY_LINE.test(line));
}

/** A line of base64 in a key: long enough to be looked for by itself. */
const KEY_LINE = /^[A-Za-z0-9+/=]{24,}$/;

/** Offset of the window that fewest others use, and among those the one with the most different characters. */
function rarestWindow(index: WindowIndex, text: string): number {
  const last = text.length - index.chars;
  const step = Math.max(1, Math.floor(last / CANDIDATES));
  let best = 0;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (let offset = 0; offset <= Math.min(last, 8191); offset += step) {
    const score = differentIn(text, offset, index.chars) - index.count(text, offset, 16);
    if (score <= bestScore) continue;
    best = offset;
    bestScore = score;
  }
  return best;
}

/** Different characters in a window, of 32 kinds. */
function differentIn(text: string, at: number, chars: number): number {
  let kinds = 0;
  for (let i = at; i < at + chars; i++) kinds |= 1 << (text.charCodeAt(i) & 31);
  let different = 0;
  for (; kinds !== 0; kinds &= kinds - 1) different++;
  return different;
}
