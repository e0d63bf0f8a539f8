/** What excuses a finding, with gitleaks' words and defaults. */
export interface AllowlistConfig {
  /** Names the allowlist in messages. */
  where: string;
  /** Whether one of the configured kinds (commits, paths, regexes, stopwords) is enough, or all must hold. */
  condition: 'or' | 'and';
  /** What the regexes are matched against. Stopwords always look at the secret. */
  target: 'secret' | 'match' | 'line';
  regexes: readonly string[];
  paths: readonly string[];
  /** Lower case, trimmed. Commits are never known here, so this kind never holds. */
  commits: readonly string[];
  /** Lower case. */
  stopwords: readonly string[];
}

/** Another rule that must be found near a finding for it to count. */
export interface RequiredConfig {
  id: string;
  /** Most lines between the two; undefined means any number. */
  withinLines: number | undefined;
  /** Most bytes between their start columns; undefined means any number. */
  withinColumns: number | undefined;
}

export interface RuleConfig {
  /** Names the file and the rule in messages. */
  where: string;
  id: string;
  /** Empty for a rule that only checks paths. */
  regex: string;
  /** A pattern of the paths the rule applies to. Empty means all. */
  path: string;
  /** 0: the first group that is not empty, or the whole match if all are empty. */
  secretGroup: number;
  /** A secret with this many bits of entropy or fewer is dropped. 0 disables the check. */
  entropy: number;
  /** Lower case. The rule runs if the text contains one of them; a rule without keywords always runs. */
  keywords: readonly string[];
  tags: readonly string[];
  allowlists: readonly AllowlistConfig[];
  required: readonly RequiredConfig[];
  /** Never reported itself; only used by rules that require it. */
  skipReport: boolean;
}

/** A complete configuration, including what it extends. Everything but its patterns has been checked. */
export interface GitleaksConfig {
  /** The file's name. */
  name: string;
  rules: readonly RuleConfig[];
  /** Apply to every rule. */
  allowlists: readonly AllowlistConfig[];
  /**
   * Every pattern that was read, including those of disabled or replaced rules: gitleaks refuses a file for any of
   * them.
   */
  patterns: readonly PatternSource[];
  /**
   * Whether the groups of the rules are exactly what must be masked. True for our own pack, whose samples are tests.
   */
  exactGroups: boolean;
}

export interface PatternSource {
  source: string;
  /** Names the rule in messages. */
  where: string;
}
