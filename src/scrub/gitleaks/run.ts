import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';

/** What gitleaks reports of one text. */
export interface GitleaksFinding {
  /** Which of the texts. */
  position: number;
  rule: string;
  secret: string;
}

interface GitleaksRunDeps {
  /** Absolute path of the program. */
  program: string;
  /** A folder of our own: texts lie in it, 0600, while gitleaks reads them. */
  workDir: string;
  /** Background work gives way to everything else. */
  lowPriority: boolean;
}

/**
 * Runs one gitleaks process over many texts; none if no text can hold a secret. SCRUB_FAILED if it fails, takes too long, or
 * writes an unknown report.
 */
export type GitleaksRun = (texts: readonly string[], withinMs: number) => Promise<GitleaksFinding[]>;

const LOWEST_PRIORITY = 19;
/** Characters of the shortest value that is searched for; a shorter one is a secret only beside its name. */
const MIN_SECRET_CHARS = 8;
/** The configuration that the program carries, and five layers of encodings. */
export const SEARCH_OPTIONS = [
  ...['--max-decode-depth', '5', '--log-level', 'error'],
  ...['--no-banner', '--ignore-gitleaks-allow'],
];

/** Finding something is no failure. */
export function reportOptions(report: string): string[] {
  return [...SEARCH_OPTIONS, '--report-path', report, '--report-format', 'json', '--exit-code', '0'];
}

/** Whether a text is long enough to hold a secret. */
export function mayHoldSecret({ length }: string): boolean {
  return length >= MIN_SECRET_CHARS;
}

/** Where the last of the magic numbers ends by which gitleaks tells what is no text, and skips it: that of an image of a CD. */
const MAGIC_NUMBERS_END = 32_774;

/** A text as gitleaks is given it: with empty lines in the places of magic numbers. */
export function behindMagicNumbers(text: string): string {
  return `${'\n'.repeat(MAGIC_NUMBERS_END)}${text}`;
}

/** Runs the real gitleaks over regular files. */
export function createGitleaksRun(deps: GitleaksRunDeps): GitleaksRun {
  return async (texts, withinMs) => {
    if (!texts.some(mayHoldSecret)) return [];
    await mkdir(deps.workDir, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(deps.workDir, 'run-'));
    try {
      const input = join(folder, 'in');
      await mkdir(input, { mode: 0o700 });
      for (const [position, text] of texts.entries())
        if (mayHoldSecret(text))
          await writeFile(join(input, `${position}.txt`), behindMagicNumbers(text), { mode: 0o600 });
      const report = join(folder, 'report.json');
      await runProgram(deps, input, report, withinMs);
      return placed(parseReport(await readFile(report, 'utf8')), texts.length);
    } catch (thrown) {
      throw searchFailed(thrown);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** Removes what a killed daemon left. */
export async function clearWorkDir(workDir: string): Promise<void> {
  await rm(workDir, { recursive: true, force: true });
}

async function runProgram(deps: GitleaksRunDeps, input: string, report: string, withinMs: number): Promise<void> {
  const process = execa(deps.program, ['dir', input, ...reportOptions(report)], {
    cwd: input,
    env: {},
    extendEnv: false,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: withinMs,
  });
  if (deps.lowPriority && process.pid !== undefined) giveWay(process.pid);
  await process;
}

/** A process that has ended already cannot be slowed down. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, LOWEST_PRIORITY);
  } catch {}
}

/** A finding as it is in a report. */
interface Reported {
  rule: string;
  secret: string;
  /** '' for stdin. */
  file: string;
}

/** Throws if it is not a report. */
export function parseReport(text: string): Reported[] {
  const report: unknown = JSON.parse(text);
  if (!Array.isArray(report)) throw new TypeError('the report is not a list');
  return report.map((item: unknown) => {
    if (!isJsonObject(item)) throw new TypeError('a finding is not an object');
    const { RuleID: rule, Secret: secret, File: file } = item;
    if (typeof rule !== 'string' || typeof secret !== 'string' || typeof file !== 'string')
      throw new TypeError('a finding lacks its rule, its secret or its file');
    return { rule, secret, file };
  });
}

function placed(reported: readonly Reported[], count: number): GitleaksFinding[] {
  return reported.map(({ rule, secret, file }) => {
    const position = Number(/(\d+)\.txt$/.exec(file)?.[1]);
    if (!(position < count)) throw new TypeError('a finding is in an unknown file');
    return { position, rule, secret };
  });
}

export function isTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && 'timedOut' in thrown && thrown.timedOut === true;
}

/** Nothing of what was scanned is in the message; the cause is for the log. */
export function searchFailed(cause: unknown): ContextdError {
  const late = isTimeout(cause);
  return new ContextdError('SCRUB_FAILED', `the output was withheld: gitleaks ${late ? 'took too long' : 'failed'}`, {
    remedy:
      'Call again. If it fails again, a person can let answers leave without it: `ctxd config set scrub.gitleaks small`.',
    cause: new Error(cause instanceof Error ? cause.name : 'unknown'),
  });
}

/** A secret that is still in a scrubbed text. */
export interface MissedSecret {
  /** As gitleaks calls the rule, with where it comes from: `gitleaks/generic-api-key`. */
  rule: string;
  value: string;
}

/** A token of ours, with or without the brackets that a pattern leaves out, and what neutralised look-alikes are. */
const TOKEN = /\[?SECRET\\*(?:_\d+)?\]?/g;

/**
 * Returns what gitleaks found in scrubbed texts that is not a token: the whole secret, or a piece next to a token if it
 * is long and mixed enough to be more than a label.
 */
export function missedSecrets(findings: readonly Pick<GitleaksFinding, 'rule' | 'secret'>[]): MissedSecret[] {
  const missed = new Map<string, MissedSecret>();
  for (const { rule, secret } of findings)
    for (const value of piecesOf(secret)) missed.set(value, missed.get(value) ?? { rule: `gitleaks/${rule}`, value });
  return [...missed.values()];
}

function piecesOf(secret: string): string[] {
  if (secret.search(TOKEN) === -1) return secret === '' ? [] : [secret];
  return secret
    .split(TOKEN)
    .filter((piece) => piece.length >= MIN_SECRET_CHARS && /\d/.test(piece) && /[a-z]/i.test(piece));
}
