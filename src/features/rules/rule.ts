/** What a rule of a client says about the commands that it covers. */
export type RuleAction = 'deny' | 'ask' | 'allow';
export type RuleClient = 'claude' | 'opencode';

/** A rule for commands, as a person or a repository wrote it for a client. */
export interface CommandRule {
  readonly action: RuleAction;
  /** As written: `Bash(git push *)`, or a pattern of OpenCode. */
  readonly rule: string;
  /** The pattern of the rule; see `pattern.ts`. */
  readonly pattern: string;
  /** The file that it is in. */
  readonly file: string;
  /** False for a file of the workspace, which can only narrow. */
  readonly isOfPerson: boolean;
}

/** Rules that one client would apply together. */
export interface RuleList {
  readonly client: RuleClient;
  /** `strictest`: deny is stronger than ask, and ask than allow. `last`: the last rule that matches decides. */
  readonly order: 'strictest' | 'last';
  readonly rules: readonly CommandRule[];
}

/**
 * True for a pattern that names no word of a command, such as `*`. It is about the client's own shell tool, whose outer words
 * the client compares with it, and never about the commands inside.
 */
export function isCatchAll(pattern: string): boolean {
  return /^[\s*:]*$/.test(pattern);
}
