import type { Span } from '../../text/offset-map.ts';
import type { Finding } from '../finding.ts';
import type { GitleaksConfig } from './config.ts';
import { decodeOnce, firstPass, type Pass, segmentsAt, toGivenPlace } from './decode-pass.ts';
import { GivenText, type Location, Places } from './locations.ts';
import { PartFinder, type PartsOf } from './part-finder.ts';
import type { Hit, Rule } from './rule.ts';
import { type Due, RuleIndex, type RuleIndexOptions, type Slot, withRequired } from './rule-index.ts';

interface FindOptions {
  /** Layers of encoding that are looked into. Default 5, as gitleaks' command has it; 0: none. */
  maxDecodeDepth?: number;
}

const MAX_DECODE_DEPTH = 5;

/** A finding, and whether it is all that its pattern matched: the value itself is what the rule knows. */
export interface RuleFinding extends Finding {
  isWhole: boolean;
}

/**
 * The rules of several configurations over a text, for masking: everything that gitleaks finds, and what it excuses by
 * `gitleaks:allow` or by path, because no path is known here. Rules for a path apply; rules for paths only never do.
 */
export class RuleSet {
  readonly #index: RuleIndex;
  readonly #parts = new PartFinder();

  /** SCHEMA_INVALID for a pattern that Go would refuse. */
  constructor(configs: readonly GitleaksConfig[], options: RuleIndexOptions = {}) {
    this.#index = new RuleIndex(configs, options);
  }

  get ruleCount(): number {
    return this.#index.ruleCount;
  }

  /** Where secrets are, in no order, with overlaps; of a secret in encoded text, all that was encoded. */
  find(text: string, options: FindOptions = {}): RuleFinding[] {
    const found: RuleFinding[] = [];
    if (text === '') return found;
    const maxDepth = options.maxDecodeDepth ?? MAX_DECODE_DEPTH;
    let run = new MaskingPass(this.#index, new Places(firstPass(text), undefined), new GivenText(text));
    let due: Due | undefined;
    for (;;) {
      due = this.#index.dueIn(run.pass, due);
      const partsOf = this.#parts.in(run.pass, due.slots);
      const findings = new Map<Slot, RuleFinding[]>();
      for (const slot of due.slots) {
        const ofOne = run.find(slot, partsOf);
        if (ofOne.length > 0) findings.set(slot, ofOne);
      }
      for (const finding of due.confirmed(findings)) found.push(finding);
      const pass = run.pass.depth < maxDepth ? decodeOnce(run.pass) : undefined;
      if (pass === undefined) return found;
      run = run.next(pass);
    }
  }
}

/** A shorter secret of a foreign rule is probably incomplete: the rule captured something else. */
const MIN_SECRET_CHARS = 8;

/** The rules over one pass, for masking. */
class MaskingPass {
  readonly pass: Pass;
  readonly #index: RuleIndex;
  readonly #places: Places;
  readonly #given: GivenText;
  /** The text with a line end added, for patterns that cannot see the end of the text. */
  readonly #endedText: string;
  #line: Span & { text: string } = { start: 0, end: -1, text: '' };

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

  find(slot: Slot, partsOf: PartsOf): RuleFinding[] {
    if (slot.config.skipReport) return [];
    const found: RuleFinding[] = [];
    for (const hit of this.#withRequired(slot, this.#hitsOf(slot, partsOf))) {
      const place = this.#placeOf(hit, slot);
      const { start, end } = toGivenPlace(this.pass, place);
      const isWhole = place.start <= hit.match.start && place.end >= hit.match.end;
      const inner = this.pass.depth === 0 ? undefined : [this.pass.text.slice(place.start, place.end)];
      if (start < end) found.push({ rule: slot.config.id, start, end, isWhole, inner });
    }
    return found;
  }

  #hitsOf({ rule }: Slot, partsOf?: PartsOf): Hit[] {
    const text = rule.seesTextEnd ? this.pass.text : this.#endedText;
    return rule.hitsIn(text, this.pass.segments, partsOf?.(rule, text)).filter((hit) => !this.#isExcused(hit, rule));
  }

  #isExcused(hit: Hit, rule: Rule): boolean {
    const slice = ({ start, end }: Span): string => this.#endedText.slice(start, end);
    return rule.isExcused({ secret: slice(hit.secret), match: slice(hit.match), line: () => this.#lineOf(hit) }, '');
  }

  /** Only the hits that have what their rule requires near them. */
  #withRequired(slot: Slot, hits: Hit[]): Hit[] {
    const { required } = slot.config;
    if (required.length === 0) return hits;
    const locate = (hit: Hit): Location & { hit: Hit } => ({ ...this.#given.locate(this.#places.reported(hit)), hit });
    const found = withRequired(hits.map(locate), required, (id) => {
      const sibling = this.#index.siblingOf(slot, id);
      return sibling === undefined ? [] : this.#hitsOf(sibling).map(locate);
    });
    return found.map(({ hit }) => hit);
  }

  /**
   * The secret; or the whole match, if the secret says too little or was captured in a repetition, which keeps its last
   * turn.
   */
  #placeOf({ match, secret, group }: Hit, { rule, file }: Slot): Span {
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

  #lineAround(found: Span): Span {
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
