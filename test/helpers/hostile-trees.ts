/** One thing that a source can hold, whatever its format. */
export type Thing =
  | { kind: 'file'; path: string; body?: string; mode?: number }
  | { kind: 'directory'; path: string; mode?: number }
  | { kind: 'symbolic' | 'hard'; path: string; to: string }
  | { kind: 'fifo' | 'device'; path: string };

export interface HostileTree {
  /** What is wrong, as the end of a test's title. */
  name: string;
  things: readonly Thing[];
  /** A part of the message. */
  says: RegExp;
}

const file = (path: string, more: { body?: string; mode?: number } = {}): Thing => ({ kind: 'file', path, ...more });
const symbolic = (path: string, to: string): Thing => ({ kind: 'symbolic', path, to });
const hard = (path: string, to: string): Thing => ({ kind: 'hard', path, to });
const directory = (path: string): Thing => ({ kind: 'directory', path });

/** Characters that change how a name is read: controls, directions, widths, separators. */
const UNPRINTED = [
  '\n',
  '\r',
  '\t',
  '\x1b',
  '\x7f',
  '\u0085',
  '\u200b',
  '\u202e',
  '\u2066',
  '\u2028',
  '\ufeff',
  '\u00ad',
];

/** Paths that must never be part of a tool, in any format. */
export const HOSTILE_PATHS: readonly (readonly [path: string, says: RegExp])[] = [
  ['/etc/passwd', /absolute/],
  ['//etc/passwd', /absolute/],
  ['./../evil', /\.\./],
  ['../evil', /\.\./],
  ['a/../../evil', /\.\./],
  ['a/..', /\.\./],
  ['..', /\.\./],
  ['a/./b', /dot/],
  ['a//b', /empty part/],
  ['..\\evil', /backslash/],
  ['C:/evil', /drive/],
  ['c:evil', /drive/],
  ...UNPRINTED.map((char) => [`a${char}b`, /does not print/] as const),
];

/** Trees of plain names that are hostile all the same. Only formats that can hold them are tried with each. */
export const HOSTILE_TREES: readonly HostileTree[] = [
  { name: 'a link to an absolute path', things: [symbolic('l', '/etc/passwd')], says: /not a relative path/ },
  { name: 'a link out of the tool', things: [symbolic('l', '../x')], says: /out of the tool/ },
  { name: 'a link out of the tool from below', things: [symbolic('a/b/l', '../../../x')], says: /out of the tool/ },
  {
    name: 'a link that goes down and out',
    things: [file('a/f'), symbolic('l', 'a/../../x')],
    says: /\.\. after a name/,
  },
  { name: 'a link to nothing', things: [symbolic('l', 'missing')], says: /link to nothing/ },
  { name: 'a link below a file', things: [file('f'), symbolic('l', 'f/x')], says: /link to nothing/ },
  { name: 'a link to itself', things: [symbolic('l', 'l')], says: /leads to itself/ },
  { name: 'links to each other', things: [symbolic('a', 'b'), symbolic('b', 'a')], says: /leads to itself/ },
  { name: 'a link to the tool', things: [symbolic('a/l', '..')], says: /directory around it/ },
  {
    name: 'a link to a directory around it',
    things: [file('a/f'), symbolic('a/b/l', '..')],
    says: /directory around it/,
  },
  {
    name: 'directories that hold links to each other',
    things: [file('x/f'), file('y/f'), symbolic('x/l', '../y'), symbolic('y/l', '../x')],
    says: /directory around it|leads to itself/,
  },
  { name: 'a link into .git', things: [symbolic('l', '.git/config')], says: /into \.git/ },
  {
    name: 'a file through a link',
    things: [symbolic('l', 'd'), directory('d'), file('l/evil')],
    says: /where a link is/,
  },
  {
    name: 'a file through a link out',
    things: [symbolic('l', '..'), file('l/evil')],
    says: /out of the tool|where a link is/,
  },
  {
    name: 'a directory through a link',
    things: [directory('d'), symbolic('l', 'd'), directory('l/e')],
    says: /where a link is/,
  },
  { name: 'a hard link to an absolute path', things: [hard('l', '/etc/passwd')], says: /absolute/ },
  { name: 'a hard link out of the tool', things: [hard('l', '../x')], says: /\.\./ },
  { name: 'a hard link to nothing', things: [hard('l', 'missing')], says: /link to nothing/ },
  { name: 'a hard link to a directory', things: [file('d/f'), hard('l', 'd')], says: /hard link to a directory/ },
  { name: 'a pipe', things: [{ kind: 'fifo', path: 'p' }], says: /is a (?:FIFO|device)/ },
  { name: 'a device', things: [{ kind: 'device', path: 'p' }], says: /is a (?:CharacterDevice|device)/ },
  { name: 'a setuid file', things: [file('f', { mode: 0o4755 })], says: /setuid/ },
  { name: 'a setgid file', things: [file('f', { mode: 0o2755 })], says: /setuid or setgid/ },
  { name: 'names that differ in case', things: [file('Readme'), file('README')], says: /case is ignored/ },
  { name: 'directories that differ in case', things: [file('Dir/a'), file('dir/b')], says: /case is ignored/ },
  { name: 'names that differ in composition', things: [file('\u00e9'), file('e\u0301')], says: /case is ignored/ },
  { name: 'names that differ by a sharp s', things: [file('stra\u00dfe'), file('STRASSE')], says: /case is ignored/ },
  { name: 'a file and a link that differ in case', things: [file('f'), symbolic('F', 'f')], says: /case is ignored/ },
  { name: 'a file twice', things: [file('f', { body: 'good' }), file('f', { body: 'evil' })], says: /is there twice/ },
  { name: 'a file and a directory of one name', things: [file('f'), file('f/g')], says: /where a file is/ },
  { name: 'a file in the place of a directory', things: [file('d/f'), file('d')], says: /is there twice/ },
  { name: 'a long name', things: [file('n'.repeat(256))], says: /more than 255 bytes/ },
];
