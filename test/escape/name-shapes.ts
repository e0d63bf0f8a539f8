import fc from 'fast-check';
import type { ContentRule } from '#src/guard/content/rule.js';
import { NAMES } from '#src/guard/table/names.js';
import type { Action } from '#src/guard/table/row.js';

/** One way in which calls make a path that programs on the host read. */
export interface NameShape {
  /** In the directory of the case. */
  readonly path: string;
  readonly text: string;
  readonly way: Way;
  /** What must become of it: `reported` stays where it is, and an answer names it. */
  readonly fate: 'set aside' | 'reported' | 'nothing';
}

const WAYS = [
  'write',
  'rename',
  'rename its directory',
  'copy',
  'tar',
  'git checkout',
  'git merge',
  'over a harmless file',
  'link',
  'hard link',
  'directory',
] as const;
type Way = (typeof WAYS)[number];

/** For each rule, a text that it passes and texts that make a program run something or lead it elsewhere. */
const TEXTS: Readonly<Record<ContentRule, readonly [harmless: string, ...dangerous: string[]]>> = {
  'toolchain of Rust': [
    '[toolchain]\nchannel = "stable"\n',
    '[toolchain]\npath = "evil"\n',
    'toolchain.path = "evil"\n',
  ],
  'keys of Cargo': [
    '[term]\nquiet = true\n',
    '[build]\nrustc-wrapper = "./evil"\n',
    'build.rustc = "evil"\n',
    '[target."cfg(all())"]\nrunner = "evil"\n',
    '[alias]\nfmt = "run"\n',
  ],
  'keys of Gradle': [
    'org.gradle.caching=true\n',
    'org.gradle.java.home=evil\n',
    'org.gradle.jvmargs=-javaagent:evil.jar\n',
  ],
  'keys of Bundler': ['---\nBUNDLE_JOBS: "4"\n', '---\nBUNDLE_GEMFILE: "evil"\n'],
  'keys of pnpm': ['packages:\n  - a\n', 'pnpmfile: ./evil.cjs\n', 'scriptShell: ./evil\n'],
  'keys of global.json': ['{"sdk":{"version":"9.0.100"}}', '{"sdk":{"paths":["evil"]}}'],
  'versions of Python': ['3.12\n', './evil\n', 'evil\n'],
  versions: ['22\n', '../evil\n', '/evil\n'],
  'versions by tool': ['python 3.12\n', 'python path:/evil\n'],
  'versions in TOML': ['node = "22"\n', '[plugins]\nx = "file://evil"\n'],
  'no plugins': ['{}', '{"plugins":["./evil.js"]}'],
};

/** `.git` is judged by what it holds. */
const ROWS = NAMES.filter(({ names }) => !names.includes('.git')).flatMap(({ names, ...row }) =>
  names.map((name) => ({ name, ...row })),
);

const spelling = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.toUpperCase(),
  (text: string) => text.replaceAll(/[a-z]/g, (letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter)),
);

/** Shapes of every row: those of rows that are set aside three times as often. */
export const nameShapes: fc.Arbitrary<NameShape> = fc
  .record({
    row: fc.constantFrom(...ROWS.flatMap((row) => (row.action === 'set aside' ? [row, row, row] : [row]))),
    above: fc.array(fc.constantFrom('a', 'src', 'packages', 'two words'), { minLength: 1, maxLength: 4 }),
    middle: fc.stringMatching(/^[a-z]{1,5}$/),
    spell: spelling,
    way: fc.constantFrom(...WAYS),
    pick: fc.nat(100),
  })
  .map(({ row: { name, action, content }, above, middle, spell, way, pick }) => {
    const [harmless, ...dangerous] = content === null ? ['', 'x\n'] : TEXTS[content];
    const isHarmless = content !== null && pick % 3 === 0 && way !== 'over a harmless file';
    const text = isHarmless ? harmless : (dangerous[pick % dangerous.length] ?? '');
    // A link or a second name can change what a file says after it was read.
    const isPassed = isHarmless && !['link', 'hard link', 'directory'].includes(way);
    // No program reads a directory as a file whose content decides.
    const isNoFile = content !== null && action === 'set aside' && way === 'directory';
    const fate = fateOf(action, isPassed || isNoFile);
    return { path: `${above.join('/')}/${spell(name.replace('*', middle))}`, text, way, fate };
  });

function fateOf(action: Action, isPassed: boolean): NameShape['fate'] {
  if (isPassed || action === 'harmless') return 'nothing';
  return action === 'set aside' ? 'set aside' : 'reported';
}

/** Bash scripts of the calls that make the shape at `dir`, in the root of a repository that has a commit. */
export function callsOf({ path, text, way }: NameShape, dir: string): [first: string, second: string] {
  const at = `${dir}/${path}`;
  const parent = at.slice(0, at.lastIndexOf('/'));
  const base = at.slice(at.lastIndexOf('/') + 1);
  const write = (to: string, what = text) => `printf %s ${quoted(what)} >${quoted(to)}`;
  const make = (one: string) => `mkdir -p ${quoted(one)}`;
  switch (way) {
    case 'write':
      return [`${make(parent)}; ${write(at)}`, ''];
    case 'rename':
      return [`${make(parent)}; ${write(`${parent}/plain`)}`, `mv -T ${quoted(`${parent}/plain`)} ${quoted(at)}`];
    case 'rename its directory':
      return [
        `${make(`${dir}/stage`)}; ${write(`${dir}/stage/${base}`)}; ${make(parent)}; rmdir ${quoted(parent)}`,
        `mv -T ${dir}/stage* ${quoted(parent)}; [ -e ${quoted(at)} ] || ${write(at)}`,
      ];
    case 'copy':
      return [
        `${make(`${dir}/s/${path.slice(0, path.lastIndexOf('/'))}`)}; ${write(`${dir}/s/${path}`)}; cp -r ${dir}/s/. ${dir}; rm -r ${dir}/s`,
        '',
      ];
    case 'tar':
      return [
        `${make(`${dir}/s/${path.slice(0, path.lastIndexOf('/'))}`)}; ${write(`${dir}/s/${path}`)}; tar -cf ${dir}/x.tar -C ${dir}/s .; rm -r ${dir}/s`,
        `tar -xf ${dir}/x.tar -C ${dir}`,
      ];
    case 'git checkout':
      return [`git checkout -q "$(commit ${quoted(at)} ${quoted(text)})" -- ${quoted(at)}`, ''];
    case 'git merge':
      return [`git merge -q "$(commit ${quoted(at)} ${quoted(text)})"`, ''];
    case 'over a harmless file': {
      const [harmless] = Object.values(TEXTS).find((texts) => texts.includes(text)) ?? ['x\n'];
      return [`${make(parent)}; ${write(at, harmless)}`, write(at)];
    }
    case 'link':
      return [`${make(parent)}; ${write(`${parent}/plain`)}; ln -s plain ${quoted(at)}`, ''];
    case 'hard link':
      return [`${make(parent)}; ${write(`${parent}/plain`)}; ln ${quoted(`${parent}/plain`)} ${quoted(at)}`, ''];
    case 'directory':
      return [`${make(at)}; ${write(`${at}/inner`)}`, ''];
  }
}

/** `commit PATH TEXT` prints a commit that adds a file to HEAD, which is not in the worktree. */
export const PRELUDE = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.invalid GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.invalid
commit() (
  export GIT_INDEX_FILE="$PWD/.git/index-of-shape"
  blob=$(printf %s "$2" | git hash-object -w --stdin)
  git read-tree HEAD && git update-index --add --cacheinfo "100644,$blob,$1"
  git commit-tree "$(git write-tree)" -p HEAD -m x
  rm -f "$GIT_INDEX_FILE"
)`;

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
