import type { Finding } from './finding.ts';
import type { ScrubEngine } from './hardened/engine.ts';
import { replaceSpans } from './mask-leaf.ts';
import type { Scanner } from './scan/scanner.ts';
import { mergeFindings } from './spans.ts';
import { type Guard, searchAtOnce } from './vault/guard.ts';
import { UNNUMBERED } from './vault/look-alike.ts';

/** Characters of a text that are searched at most: `mask` runs on the main thread. */
const MASK_MAX_CHARS = 65_536;
/** Characters also dropped at the end of a cut text, because a secret cut in two is not recognised. */
const MASK_MARGIN_CHARS = 4096;

export interface TextMaskerDeps {
  /** Used by `mask` on the main thread. */
  engine: ScrubEngine;
  scanner: Pick<Scanner, 'scan'>;
  /** The values of all sessions, and what the machine knows. */
  guards(): readonly Guard[];
}

/** Masks texts that belong to no session, such as log lines: secrets become "[SECRET]" without a number. */
export class TextMasker {
  readonly #deps: TextMaskerDeps;

  constructor(deps: TextMaskerDeps) {
    this.#deps = deps;
  }

  /** Never throws: a text that cannot be searched is withheld. */
  mask(text: string): string {
    try {
      return this.#maskWith(text, this.#deps.engine.scan(text.slice(0, MASK_MAX_CHARS)));
    } catch {
      return '[text withheld: it could not be searched for secrets]';
    }
  }

  /** In the thread that searches outputs. Rejects if that fails. */
  async maskAll(texts: readonly string[]): Promise<string[]> {
    const seen = texts.map((text) => ({ text: text.slice(0, MASK_MAX_CHARS), name: undefined }));
    const found = await this.#deps.scanner.scan(seen);
    return texts.map((text, position) => this.#maskWith(text, found[position] ?? []));
  }

  /** `found`: what the patterns found in the part of the text that is looked at. */
  #maskWith(text: string, found: readonly Finding[]): string {
    const seen = text.slice(0, MASK_MAX_CHARS);
    const spans = mergeFindings([...found, ...searchAtOnce(this.#deps.guards(), seen)]);
    if (text.length <= MASK_MAX_CHARS) return unnumbered(seen, spans);
    const end = MASK_MAX_CHARS - MASK_MARGIN_CHARS;
    const kept = spans.filter((span) => span.start < end).map((span) => ({ ...span, end: Math.min(span.end, end) }));
    return `${unnumbered(seen.slice(0, end), kept)}… (${text.length - end} characters left out)`;
  }
}

function unnumbered(text: string, spans: readonly Finding[]): string {
  return replaceSpans(text, spans, { tokenAt: () => UNNUMBERED });
}
