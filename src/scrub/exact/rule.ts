import type { Span } from '../../text/offset-map.ts';
import { Allowlist, type Candidate } from './allowlist.ts';
import { certificateOf } from './certified-patterns.ts';
import type { RuleConfig } from './config.ts';
import { type Segment, segmentsAt } from './decode-pass.ts';
import { entropyOf } from './entropy.ts';
import { parseGo } from './go-syntax.ts';
import { childrenOf, type GoNode } from './go-tree.ts';
import { type Landmarks, landmarksOf } from './landmarks.ts';
import { Pattern } from './pattern.ts';
import { ruleFault } from './toml-table.ts';

/** What a rule's pattern found, before any allowlist. Offsets in the text that was searched. */
export interface Hit {
  /** As the pattern has it. */
  found: Span;
  /** Without the line ends around it. */
  match: Span;
  /** Empty where the group that names the secret is. */
  secret: Span;
  /** The number of that group; 0: it is the whole match. */
  group: number;
}

/** One rule, compiled. */
export class Rule {
  readonly config: RuleConfig;
  readonly #pattern: Pattern | undefined;
  readonly #path: Pattern | undefined;
  readonly #allowlists: readonly Allowlist[];
  #landmarks: Landmarks | undefined;
  #repeated: ReadonlySet<number> | undefined;

  /** `shared`: the allowlists of the whole configuration. SCHEMA_INVALID for a pattern that Go would refuse. */
  constructor(config: RuleConfig, shared: readonly Allowlist[] = []) {
    this.config = config;
    const { where, regex, path, allowlists, secretGroup } = config;
    if (regex !== '') this.#pattern = new Pattern(regex, where);
    if (path !== '') this.#path = new Pattern(path, where);
    this.#allowlists = [...shared, ...allowlists.map((list) => new Allowlist(list))];
    if (secretGroup > 0 && this.#pattern !== undefined) checkGroup(secretGroup, this.#pattern.groupCount, where);
  }

  get isForPathsOnly(): boolean {
    return this.#pattern === undefined;
  }

  /** Whether the pattern may match differently at the end of the text than at the end of a line. */
  get seesTextEnd(): boolean {
    return /\$|\\z/.test(this.config.regex);
  }

  /** Whether a group may take part more than once; it then holds its last turn only. */
  isRepeated(group: number): boolean {
    if (group === 0) return false;
    this.#repeated ??= repeatedGroups(this.config.regex);
    return this.#repeated.has(group);
  }

  /** An empty path is an unknown one; gitleaks tries the pattern on it all the same. */
  holdsAt(path: string): boolean {
    return this.#path === undefined || this.#path.test(path);
  }

  /** What to look for to find the parts of a text that can hold a match. */
  get landmarks(): Landmarks {
    this.#landmarks ??= landmarksOf(parseGo(this.config.regex), certificateOf(this.config.regex));
    return this.#landmarks;
  }

  /**
   * All in a text, of enough entropy; with `segments`, those that overlap or touch text that was decoded last. `parts`: the
   * parts of the text that can hold a match; default: all of it.
   */
  hitsIn(text: string, segments: readonly Segment[], parts?: readonly Span[]): Hit[] {
    const hits: Hit[] = [];
    const searched = parts?.filter((part) => segments.length === 0 || segmentsAt(segments, part).length > 0);
    for (const found of this.#pattern?.findAll(text, searched) ?? []) {
      if (segments.length > 0 && segmentsAt(segments, found).length === 0) continue;
      const match = withoutLineEnds(text, found);
      const { start, end, group } = this.#groupIn(text.slice(match.start, match.end));
      const secret = { start: match.start + start, end: match.start + end };
      if (this.#hasEntropy(text.slice(secret.start, secret.end))) hits.push({ found, match, secret, group });
    }
    return hits;
  }

  isExcused(candidate: Candidate, path: string): boolean {
    return this.#allowlists.some((list) => list.excuses(candidate, path));
  }

  #hasEntropy(secret: string): boolean {
    const { entropy } = this.config;
    return entropy === 0 || !(entropyOf(secret) <= entropy);
  }

  isPathExcused(path: string): boolean {
    return path !== '' && this.#allowlists.some((list) => list.excusesPath(path));
  }

  /** The pattern runs again on the match alone, so anchors see its ends. If that fails, the whole match is secret. */
  #groupIn(match: string): Span & { group: number } {
    const groups = this.#pattern?.groups(match) ?? [];
    const { secretGroup } = this.config;
    const isNamed = secretGroup > 0 && groups.length > 0;
    const group = isNamed
      ? secretGroup
      : groups.findIndex((range) => range !== undefined && range.start < range.end) + 1;
    if (group === 0) return { start: 0, end: match.length, group };
    return { ...(groups[group - 1] ?? { start: 0, end: 0 }), group };
  }
}

function checkGroup(secretGroup: number, groups: number, where: string): void {
  if (secretGroup > groups) throw ruleFault(where, `"secretGroup" is ${secretGroup}, the regex has ${groups} groups`);
}

function withoutLineEnds(text: string, { start, end }: Span): Span {
  let from = start;
  let to = end;
  while (from < to && text[from] === '\n') from++;
  while (to > from && text[to - 1] === '\n') to--;
  return { start: from, end: to };
}

/** The groups of a pattern that may take part more than once in a match: such a group holds its last turn only. */
function repeatedGroups(source: string): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = (node: GoNode, isRepeated: boolean): void => {
    if (node.kind === 'group' && isRepeated) found.add(node.index);
    for (const child of childrenOf(node)) visit(child, isRepeated || (node.kind === 'repeat' && node.max > 1));
  };
  visit(parseGo(source), false);
  return found;
}
