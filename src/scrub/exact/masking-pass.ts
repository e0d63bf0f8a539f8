import type { Finding } from '../finding.ts';
import { type Pass, segmentsAt, toGivenText } from './decode-pass.ts';
import type { GivenText, Location } from './given-text.ts';
import type { Range } from './pattern.ts';
import { Places } from './places.ts';
import { withCompany } from './proximity.ts';
import type { Hit, Rule } from './rule.ts';
import type { RuleIndex, Slot } from './rule-index.ts';

/** A shorter secret of a foreign rule is hardly all of it: the rule captured something else. */
const MIN_SECRET_CHARS = 8;

/** The rules over one pass, for masking. */
export class MaskingPass {
  readonly pass: Pass;
  readonly #index: RuleIndex;
  readonly #places: Places;
  readonly #given: GivenText;
  /** The text with its last line ended, for patterns that cannot see the text's end. */
  readonly #endedText: string;
  #line: Range & { text: string } = { start: 0, end: -1, text: '' };

  constructor(index: RuleIndex, places: Places, given: GivenText) {
    this.pass = places.pass;
    this.#index = index;
    this.#places = places;
    this.#given = given;
    const { text } = this.pass;
    this.#endedText = text.endsWith('\n') ? text : `${text}\n`;
  }

  next(pass: Pass): MaskingPass {
    return new MaskingPass(this.#index, new Places(pass, this.#places), this.#given);
  }

  find(slot: Slot): Finding[] {
    if (slot.config.skipReport) return [];
    const found: Finding[] = [];
    for (const hit of this.#withCompany(slot, this.#hitsOf(slot))) {
      const { start, end } = toGivenText(this.pass, this.#placeOf(hit, slot));
      if (start < end) found.push({ rule: slot.config.id, start, end });
    }
    return found;
  }

  #hitsOf({ rule }: Slot): Hit[] {
    const text = rule.seesTextEnd ? this.pass.text : this.#endedText;
    return rule.hitsIn(text, this.pass.segments).filter((hit) => !this.#isExcused(hit, rule));
  }

  #isExcused(hit: Hit, rule: Rule): boolean {
    const slice = ({ start, end }: Range): string => this.#endedText.slice(start, end);
    return rule.isExcused({ secret: slice(hit.secret), match: slice(hit.match), line: () => this.#lineOf(hit) }, '');
  }

  /** Only the hits that have what their rule requires near them. */
  #withCompany(slot: Slot, hits: Hit[]): Hit[] {
    const { required } = slot.config;
    if (required.length === 0) return hits;
    const locate = (hit: Hit): Location & { hit: Hit } => ({ ...this.#given.locate(this.#places.reported(hit)), hit });
    const found = withCompany(hits.map(locate), required, (id) => {
      const sibling = this.#index.siblingOf(slot, id);
      return sibling === undefined ? [] : this.#hitsOf(sibling).map(locate);
    });
    return found.map(({ hit }) => hit);
  }

  /** The secret; the whole match where that says too little or was caught in a repetition, which keeps its last turn. */
  #placeOf({ match, secret, group }: Hit, { rule, file }: Slot): Range {
    const isPart = secret.end - secret.start < MIN_SECRET_CHARS || rule.isRepeated(group);
    const { start, end } = secret.start === secret.end || (isPart && !file.exactGroups) ? match : secret;
    return { start, end: Math.min(end, this.pass.text.length) };
  }

  /** What line allowlists see: as gitleaks has it, but of a last line without an end no more than itself. */
  #lineOf({ found }: Hit): string {
    const { start, end } = this.#lineAround(found);
    if (start !== this.#line.start || end !== this.#line.end)
      this.#line = { start, end, text: this.pass.text.slice(start, end) };
    return this.#line.text;
  }

  #lineAround(found: Range): Range {
    const { text, segments } = this.pass;
    const known = this.#line;
    const met = segmentsAt(segments, found);
    const from = met.at(0)?.decoded.start ?? found.start;
    const to = met.at(-1)?.decoded.end ?? found.end;
    // All but its first character, which is the line end before it.
    if (from > known.start && to <= known.end) return known;
    const end = text.indexOf('\n', to);
    return { start: Math.max(0, text.lastIndexOf('\n', from)), end: end === -1 ? text.length : end };
  }
}
