import type { ContentRule } from '../content/rule.ts';

/**
 * What happens to a path of a name that a call created or changed:
 * - `set aside`: programs on the host run it, or trust it, without a person naming it. It is moved away.
 * - `instructions`: agents obey it in a later session. It stays, and the answer names it.
 * - `settings`: programs read it, and it may make one of them run something. It stays, and the answer names it.
 * - `harmless`: no program on the host runs anything because of it. It stays.
 */
export type Action = 'set aside' | 'instructions' | 'settings' | 'harmless';

/** Names that one program reads, and when. */
export interface NameRow {
  /**
   * In lower case; `*` stands for any characters of a name. `directory/name` is the name in a directory of this name, at
   * any depth.
   */
  readonly names: readonly string[];
  /** Who reads it. */
  readonly program: string;
  /** What a person does that makes the program read it. */
  readonly trigger: string;
  /** Where this is documented. */
  readonly source: string;
  readonly action: Action;
  /** A file whose content passes this rule is harmless. Null: the name alone decides. */
  readonly content: ContentRule | null;
  /** Whether it counts in installed packages too. */
  readonly isReadInPackages: boolean;
}

/** A line of a table of one action: names, program, trigger, source, and the rule for the content if there is one. */
export type Line = readonly [
  names: readonly string[],
  program: string,
  trigger: string,
  source: string,
  content?: ContentRule,
];

export function rowsOf(action: Action, lines: readonly Line[], isReadInPackages = false): NameRow[] {
  return lines.map(([names, program, trigger, source, content = null]) => ({
    names,
    program,
    trigger,
    source,
    action,
    content,
    isReadInPackages,
  }));
}
