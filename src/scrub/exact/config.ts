/** What excuses a finding. gitleaks' own words and defaults. */
export interface AllowlistConfig {
  /** Names the allowlist in messages. */
  where: string;
  /** Whether one kind of the configured (commits, paths, regexes, stopwords) is enough, or all must hold. */
  condition: 'or' | 'and';
  /** What the regexes are matched against. Stopwords always look at the secret. */
  target: 'secret' | 'match' | 'line';
  regexes: readonly string[];
  paths: readonly string[];
  /** Lower case, trimmed. No commit is ever known here, so they count only as a kind that does not hold. */
  commits: readonly string[];
  /** Lower case. */
  stopwords: readonly string[];
}

/** Another rule that must be found near a finding for it to count. */
export interface RequiredConfig {
  id: string;
  /** Lines between the two at most; undefined: any number. */
  withinLines: number | undefined;
  /** Bytes between their start columns at most; undefined: any number. */
  withinColumns: number | undefined;
}

export interface RuleConfig {
  /** Names the file and the rule in messages. */
  where: string;
  id: string;
  /** Empty: a rule for paths only. */
  regex: string;
  /** Where the rule holds at all, as a pattern. Empty: everywhere. */
  path: string;
  /** 0: the first group that is not empty, or the whole match if there is none. */
  secretGroup: number;
  /** Bits; a secret of no more is dropped. 0: no such check. */
  entropy: number;
  /** Lower case. The rule runs where one of them is in the text; none: it always runs. */
  keywords: readonly string[];
  tags: readonly string[];
  allowlists: readonly AllowlistConfig[];
  required: readonly RequiredConfig[];
  /** Never reported itself; there for other rules that require it. */
  skipReport: boolean;
}

/** A configuration as it holds: with what it extends, checked except for what its patterns must say. */
export interface GitleaksConfig {
  /** The file's name. */
  name: string;
  rules: readonly RuleConfig[];
  /** They hold for every rule. */
  allowlists: readonly AllowlistConfig[];
  /** Every pattern that was read, those of disabled or replaced rules included: gitleaks refuses a file for any. */
  patterns: readonly PatternSource[];
  /** The groups of the rules are known to be what must be masked: our own pack, whose samples are tests. */
  exactGroups: boolean;
}

export interface PatternSource {
  source: string;
  /** Names the rule in messages. */
  where: string;
}
