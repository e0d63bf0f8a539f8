import { constants, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ParseError, parse, printParseErrorCode, stripComments } from 'jsonc-parser';
import { SERVER_FILES } from '../../core/client-places.ts';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { claudeRules } from './claude-rules.ts';
import { openCodeRules } from './opencode-rules.ts';
import { type CommandRule, isCatchAll, type RuleList } from './rule.ts';

export interface RuleFilesDeps {
  /** Home of the person who owns the daemon. */
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or undefined. */
  readonly configHome: string | undefined;
  /** Settings of Claude Code that an administrator made for the machine. */
  readonly managedSettings: string;
}

export const MANAGED_SETTINGS = '/etc/claude-code/managed-settings.json';

/** A file that its client would read, and contextd cannot. */
export interface FileFault {
  readonly file: string;
  readonly why: string;
}

/** The rules for commands in a project. */
export interface ProjectRules {
  readonly lists: readonly RuleList[];
  readonly faults: readonly FileFault[];
  /** Files that are there. */
  readonly files: readonly string[];
}

type FileContent = { readonly stamp: string } & (
  | { readonly kind: 'missing' }
  | { readonly kind: 'object'; readonly value: JsonObject }
  | { readonly kind: 'fault'; readonly why: string }
);

interface Known {
  readonly stamps: string;
  readonly rules: ProjectRules;
}

interface FilesOf {
  readonly claude: readonly RuleFile[];
  readonly opencode: readonly RuleFile[];
}

type RuleFile = Pick<CommandRule, 'file' | 'isOfPerson'>;

const FILE_MAX_BYTES = 1024 * 1024;
const PROJECTS_MAX = 256;

/** The rules that clients read, from the same files. A file is read again if it is another one, or has changed. */
export class RuleFiles {
  readonly #deps: RuleFilesDeps;
  readonly #contents = new Map<string, FileContent>();
  readonly #known = new Map<string, Known>();

  constructor(deps: RuleFilesDeps) {
    this.#deps = deps;
  }

  /** The directories and files from which clients take a person's settings, whether or not they exist, and HOME. */
  get personal(): { readonly home: string; readonly clientPlaces: readonly string[] } {
    const { home } = this.#deps;
    const { claude, opencode } = this.#filesOf('/');
    const own = [...claude, ...opencode].filter(({ isOfPerson }) => isOfPerson);
    const directories = new Set(own.map(({ file }) => dirname(file)));
    return { home, clientPlaces: [...directories, ...SERVER_FILES.map((file) => join(home, file))] };
  }

  async read(projectRoot: string): Promise<ProjectRules> {
    const files = this.#filesOf(projectRoot);
    const all = [...files.claude, ...files.opencode];
    const contents = new Map(
      await Promise.all(all.map(async ({ file }) => [file, await this.#content(file)] as const)),
    );
    const stamps = JSON.stringify([...contents.values()].map(({ stamp }) => stamp));
    const known = this.#known.get(projectRoot);
    if (known?.stamps === stamps) return known.rules;
    const rules = rulesOf(files, contents);
    keep(this.#known, projectRoot, { stamps, rules }, PROJECTS_MAX);
    return rules;
  }

  /** In the order in which the clients read them. */
  #filesOf(root: string): FilesOf {
    const { home, configHome = join(home, '.config'), managedSettings } = this.#deps;
    const own = (...words: string[]): RuleFile => ({ file: join(...words), isOfPerson: true });
    const workspace = (...words: string[]): RuleFile => ({ file: join(root, ...words), isOfPerson: false });
    return {
      claude: [
        own(managedSettings),
        own(home, '.claude', 'settings.json'),
        workspace('.claude', 'settings.json'),
        workspace('.claude', 'settings.local.json'),
      ],
      opencode: [
        ...['config.json', 'opencode.json', 'opencode.jsonc'].map((name) => own(configHome, 'opencode', name)),
        ...['opencode.json', 'opencode.jsonc'].map((name) => workspace(name)),
        ...['opencode.json', 'opencode.jsonc'].map((name) => workspace('.opencode', name)),
      ],
    };
  }

  async #content(file: string): Promise<FileContent> {
    const stamp = stampOf(file);
    const known = this.#contents.get(file);
    if (known?.stamp === stamp) return known;
    const content: FileContent = stamp === MISSING ? { stamp, kind: 'missing' } : { stamp, ...(await readJson(file)) };
    keep(this.#contents, file, content, PROJECTS_MAX * 8);
    return content;
  }
}

const MISSING = 'missing';

/** Synchronous, because each call waits for it: eleven trips to the thread pool take a millisecond, these microseconds. */
function stampOf(file: string): string {
  try {
    const about = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (about === undefined) return MISSING;
    const { dev, ino, size, mtimeNs, ctimeNs } = about;
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (thrown) {
    if (isErrno(thrown, 'ENOTDIR')) return MISSING;
    return `unreadable ${thrown instanceof Error && 'code' in thrown ? thrown.code : ''}`;
  }
}

/** Follows links, as the clients do. Never waits for a pipe. */
async function readJson(
  file: string,
): Promise<{ kind: 'missing' } | { kind: 'object'; value: JsonObject } | { kind: 'fault'; why: string }> {
  try {
    const text = await readText(file);
    if (text === null) return fault(`it is no regular file of at most ${FILE_MAX_BYTES} bytes`);
    const errors: ParseError[] = [];
    const value: Json | undefined = parse(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
    const [first] = errors;
    // Both clients take an empty file for one without settings, and so one that holds only comments.
    const isBlank =
      stripComments(text).trim() === '' && errors.every((one) => printParseErrorCode(one.error) === 'ValueExpected');
    if (isBlank) return { kind: 'object', value: {} };
    if (first !== undefined) return fault(`${printParseErrorCode(first.error)} at character ${first.offset}`);
    return isJsonObject(value) ? { kind: 'object', value } : fault('it holds no JSON object');
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return { kind: 'missing' };
    return fault(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

async function readText(file: string): Promise<string | null> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await handle.stat();
    if (!about.isFile() || about.size > FILE_MAX_BYTES) return null;
    const buffer = Buffer.alloc(FILE_MAX_BYTES + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return bytesRead > FILE_MAX_BYTES ? null : buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function fault(why: string): { kind: 'fault'; why: string } {
  return { kind: 'fault', why };
}

function rulesOf({ claude, opencode }: FilesOf, contents: ReadonlyMap<string, FileContent>): ProjectRules {
  const faults: FileFault[] = [];
  const objects = (files: readonly RuleFile[]): { file: RuleFile; value: JsonObject }[] =>
    files.flatMap((file) => {
      const content = contents.get(file.file);
      if (content?.kind === 'fault') faults.push({ file: file.file, why: content.why });
      return content?.kind === 'object' ? [{ file, value: content.value }] : [];
    });
  const read = (rules: () => CommandRule[], { file }: RuleFile): CommandRule[] => {
    try {
      return rules();
    } catch (thrown) {
      faults.push({ file, why: thrown instanceof Error ? thrown.message : String(thrown) });
      return [];
    }
  };
  const [ofClaude, ofOpenCode] = [objects(claude), objects(opencode)];
  const lists: RuleList[] = [
    {
      client: 'claude',
      order: 'strictest',
      rules: ofClaude.flatMap(({ file, value }) => read(() => claudeRules(value, file), file)),
    },
    // The person's own files alone, so that a file of the workspace takes nothing back; then all together, as OpenCode does.
    ...[ofOpenCode.filter(({ file }) => file.isOfPerson), ofOpenCode].map((files) => ({
      client: 'opencode' as const,
      order: 'last' as const,
      rules: mergedRules(files, read),
    })),
  ];
  return {
    lists: lists.filter(({ rules }) => rules.some(({ action, pattern }) => action !== 'allow' && !isCatchAll(pattern))),
    faults: faults.filter(({ file }, index) => faults.findIndex((one) => one.file === file) === index),
    files: [...ofClaude, ...ofOpenCode].map(({ file }) => file.file),
  };
}

/** OpenCode merges its files: a later value takes the place of an earlier one, where the earlier one stood. */
function mergedRules(
  files: readonly { file: RuleFile; value: JsonObject }[],
  read: (rules: () => CommandRule[], file: RuleFile) => CommandRule[],
): CommandRule[] {
  const rules = new Map<string, CommandRule>();
  for (const { file, value } of files) {
    const { permission } = value;
    if (permission !== undefined && replacesAll(permission)) rules.clear();
    for (const rule of read(() => openCodeRules(value, file), file)) rules.set(rule.pattern, rule);
  }
  return [...rules.values()];
}

/** One word in place of a list of patterns takes the place of the whole list. */
function replacesAll(permission: Json): boolean {
  return !isJsonObject(permission) || (permission.bash !== undefined && !isJsonObject(permission.bash));
}

function keep<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > max) map.delete(oldest);
}
