import type { GitleaksConfig } from '../exact/config.ts';
import { Pattern } from '../exact/pattern.ts';

/** Characters on each side of a finding that show what kind of file a text is. */
const AROUND_CHARS = 4096;

/** Files for which rules are made: the name of one, and a line that only such a file has. */
const KINDS: readonly { file: string; line: RegExp }[] = [
  {
    file: 'main.tf',
    line: /^[ \t]*(?:[-+][ \t]+)?(?:(?:resource|data)[ \t]+"[\w-]+"[ \t]+"[\w-]+"|(?:provider|module|variable|output|backend|provisioner|source)[ \t]+"[\w.-]+"|locals|terraform|inputs|credentials)[ \t]*=?[ \t]*\{/m,
  },
  { file: 'secret.yaml', line: /^[ \t-]*["']?[\w.$/-]+["']?:(?:[ \t]|$)/m },
  { file: 'index.php', line: /<\?php|^[ \t]*(?:\$\w+[ \t]*=|'[\w-]+'[ \t]*=>)/m },
  { file: 'nuget.config', line: /<\w+[^>]*>/ },
];

/**
 * For rules with a `path`: a text has no path here, so its lines around a finding must show that it is a file of that kind. A rule
 * for a kind of files that is not known here applies to every text.
 */
export class RulePaths {
  readonly #lines = new Map<string, RegExp>();

  constructor(configs: readonly GitleaksConfig[]) {
    for (const { rules } of configs)
      for (const { id, path, where } of rules) {
        if (path === '') continue;
        const pattern = new Pattern(path, where);
        const kind = KINDS.find(({ file }) => pattern.test(file));
        if (kind !== undefined) this.#lines.set(id, kind.line);
      }
  }

  /** Whether a rule may apply to the text around a place. */
  holdAt(rule: string, text: string, { start, end }: { start: number; end: number }): boolean {
    const line = this.#lines.get(rule);
    return line === undefined || line.test(text.slice(Math.max(0, start - AROUND_CHARS), end + AROUND_CHARS));
  }
}
