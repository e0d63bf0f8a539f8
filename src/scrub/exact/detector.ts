import type { Span } from '../../text/offset-map.ts';
import type { GitleaksConfig } from './config.ts';
import { decodeOnce, firstPass, type Pass, segmentsAt, toGivenText } from './decode-pass.ts';
import { GivenText, Places } from './locations.ts';
import { PartFinder, type PartsOf } from './part-finder.ts';
import type { Hit } from './rule.ts';
import { type Due, RuleIndex, type RuleIndexOptions, type Slot, withRequired } from './rule-index.ts';

/** A finding as gitleaks reports it. */
export interface Detection {
  rule: string;
  /** UTF-16 offsets of the secret in the given text; for a secret in decoded text, of everything that was encoded. */
  start: number;
  end: number;
  secret: string;
  match: string;
  line: string;
  /** From 1; 0 if only the path was found. */
  startLine: number;
  endLine: number;
  /** In bytes, from 1; one too high from the second line on. */
  startColumn: number;
  endColumn: number;
  tags: string[];
}

export interface DetectOptions {
  /** The path that rules and allowlists see. Default: unknown, so that rules for a path find nothing. */
  path?: string;
  /** Whether lines with `gitleaks:allow` are ignored. Default true. */
  heedAllowComments?: boolean;
  /** Layers of encoding to decode. Default 5, as in gitleaks' command; 0 means none. */
  maxDecodeDepth?: number;
}

const MAX_DECODE_DEPTH = 5;

/** gitleaks v8.30.1 over one text: every chunk and every kind of file is searched. */
export class Detector {
  readonly #index: RuleIndex;
  readonly #config: GitleaksConfig;
  readonly #parts = new PartFinder();

  /** SCHEMA_INVALID for a pattern that Go would refuse. */
  constructor(config: GitleaksConfig, options: RuleIndexOptions = {}) {
    this.#config = config;
    this.#index = new RuleIndex([config], options);
  }

  get ruleCount(): number {
    return this.#index.ruleCount;
  }

  detect(text: string, options: DetectOptions = {}): Detection[] {
    const { path = '', heedAllowComments = true, maxDecodeDepth = MAX_DECODE_DEPTH } = options;
    if (this.#index.isPathExcused(this.#config, path)) return [];
    const detections: Detection[] = [];
    const places = new Places(firstPass(text), undefined);
    let run = new PassRun(this.#index, { path, heedAllowComments }, places, new GivenText(text));
    let due: Due | undefined;
    for (;;) {
      due = this.#index.dueIn(run.pass, due);
      const partsOf = this.#parts.in(run.pass, due.slots);
      const found = new Map<Slot, Detection[]>();
      for (const slot of due.slots) {
        const ofOne = run.detect(slot, partsOf);
        if (ofOne.length > 0) found.set(slot, ofOne);
      }
      for (const detection of due.confirmed(found)) detections.push(detection);
      const pass = run.pass.depth < maxDecodeDepth ? decodeOnce(run.pass) : undefined;
      if (pass === undefined) return withoutGenericTwins(detections);
      run = run.next(pass);
    }
  }
}

interface RunOptions {
  path: string;
  heedAllowComments: boolean;
}

/** The rules over one pass. */
class PassRun {
  readonly pass: Pass;
  readonly #index: RuleIndex;
  readonly #options: RunOptions;
  readonly #places: Places;
  readonly #given: GivenText;

  constructor(index: RuleIndex, options: RunOptions, places: Places, given: GivenText) {
    this.pass = places.pass;
    this.#index = index;
    this.#options = options;
    this.#places = places;
    this.#given = given;
  }

  next(pass: Pass): PassRun {
    return new PassRun(this.#index, this.#options, new Places(pass, this.#places), this.#given);
  }

  detect(slot: Slot, partsOf: PartsOf): Detection[] {
    if (slot.config.skipReport) return [];
    return withRequired(this.#detectAlone(slot, partsOf), slot.config.required, (id) => this.#detectSibling(slot, id));
  }

  #detectSibling(slot: Slot, id: string): Detection[] {
    const sibling = this.#index.siblingOf(slot, id);
    return sibling === undefined ? [] : this.#detectAlone(sibling);
  }

  #detectAlone({ rule }: Slot, partsOf?: PartsOf): Detection[] {
    const { path } = this.#options;
    if (rule.isPathExcused(path) || !rule.holdsAt(path)) return [];
    if (rule.isForPathsOnly)
      return this.pass.depth === 0 ? [pathDetection(rule.config.id, path, rule.config.tags)] : [];
    const { text, segments } = this.pass;
    return rule.hitsIn(text, segments, partsOf?.(rule, text)).flatMap((hit) => {
      const detection = this.#describe(hit, rule.config.id, rule.config.tags);
      if (detection === undefined) return [];
      const { secret, match, line } = detection;
      const isExcused = rule.isExcused({ secret, match, line: () => this.#lineInPass(hit) ?? line }, path);
      return isExcused ? [] : [detection];
    });
  }

  /** Returns undefined if the line of the hit allows it. */
  #describe(hit: Hit, rule: string, tags: readonly string[]): Detection | undefined {
    const { line, ...location } = this.#given.locate(this.#places.reported(hit));
    if (this.#options.heedAllowComments && this.#given.hasAllowComment(line)) return undefined;
    const { text } = this.pass;
    const slice = ({ start, end }: Span): string => text.slice(start, end);
    return {
      rule,
      ...toGivenText(this.pass, hit.secret.start < hit.secret.end ? hit.secret : hit.match),
      secret: slice(hit.secret),
      match: slice(hit.match),
      line: this.#given.slice(line),
      ...location,
      tags: [...tags, ...this.#places.tags(hit)],
    };
  }

  /** Returns the line that allowlists see; in decoded text, the line around the decoded places. */
  #lineInPass({ found }: Hit): string | undefined {
    const { text, segments } = this.pass;
    const met = segmentsAt(segments, found);
    const [first, last] = [met.at(0), met.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const end = text.indexOf('\n', last.decoded.end);
    return text.slice(Math.max(0, text.lastIndexOf('\n', first.decoded.start)), end === -1 ? text.length : end);
  }
}

function pathDetection(rule: string, path: string, tags: readonly string[]): Detection {
  const nowhere = { start: 0, end: 0, startLine: 0, endLine: 0, startColumn: 0, endColumn: 0 };
  return { rule, ...nowhere, secret: '', match: `file detected: ${path}`, line: '', tags: [...tags] };
}

/** Drops the finding of a generic rule if another rule found a secret on the same line that contains it. */
function withoutGenericTwins(detections: Detection[]): Detection[] {
  const isGeneric = ({ rule }: Detection): boolean => rule.toLowerCase().includes('generic');
  const specific = new Map<number, Set<string>>();
  if (!detections.some(isGeneric)) return detections;
  for (const one of detections) {
    const secrets = specific.get(one.startLine) ?? new Set();
    if (!isGeneric(one)) specific.set(one.startLine, secrets.add(one.secret));
  }
  return detections.filter((one) => {
    const secrets = isGeneric(one) ? specific.get(one.startLine) : undefined;
    return (
      secrets === undefined || !(secrets.has(one.secret) || [...secrets].some((secret) => secret.includes(one.secret)))
    );
  });
}
