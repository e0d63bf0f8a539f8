import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { RuleFile } from './exact/rule-pack.ts';
import { readWorkspaceConfig, type WorkspaceConfig } from './workspace-config.ts';

/** What the `.gitleaks.toml` of a project does to the rules. */
export interface WorkspaceRules {
  /** Changes with whatever changes the rules: engines are kept by it. */
  key: string;
  /** Rules beside all others. */
  files: readonly RuleFile[];
  /** What a person approved of this very file: rules that are off, and allowlists that hold for all. Null: nothing. */
  allowances: Allowances | null;
}

/** Plain data: it goes to the thread that scans. */
export interface Allowances {
  disabledRules: readonly string[];
  /** Global allowlists, and those for certain rules by `targetRules`. */
  allowlists: RuleFile;
}

/** What there is to approve. */
export interface RulesReview {
  path: string;
  /** Null: there is no such file. */
  sha256: string | null;
  approved: boolean;
  rules: number;
  /** One sentence each. */
  allowances: readonly string[];
  /** Why the file cannot be used at all; null when it can. */
  fault: string | null;
}

export interface WorkspaceRulesDeps {
  /** True when a person approved a file with this hash for this project. */
  isApproved(root: string, sha256: string): boolean;
  /** Told once for each state of a file that cannot be used. Nothing of its text is in the message but names. */
  onFault(root: string, problem: string): void;
}

export interface WorkspaceRulesReader {
  /** Null: no file, or one that cannot be used; then the other rules hold alone. Costs one stat when nothing changed. */
  read(root: string): Promise<WorkspaceRules | null>;
  review(root: string): Promise<RulesReview>;
}

export const WORKSPACE_FILE = '.gitleaks.toml';
const MAX_BYTES = 256 * 1024;
/** Projects whose file is remembered. */
const MAX_REMEMBERED = 200;

interface Known {
  stamp: string;
  sha256: string | null;
  config: WorkspaceConfig | null;
  fault: string | null;
}

/** Reads the rules a project brings. They only add, until a person approves the file by its hash. */
export function createWorkspaceRules(deps: WorkspaceRulesDeps): WorkspaceRulesReader {
  const known = new Map<string, Known>();
  const current = async (root: string): Promise<Known> => {
    const file = join(root, WORKSPACE_FILE);
    const stamp = await stampOf(file);
    const before = known.get(root);
    if (before?.stamp === stamp) return before;
    const now = stamp === '' ? { stamp, ...NOTHING } : { stamp, ...(await readFile(file)) };
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(root, now);
    if (now.fault !== null) deps.onFault(root, now.fault);
    return now;
  };
  return {
    async read(root) {
      const { sha256, config } = await current(root);
      if (sha256 === null || config === null) return null;
      const approved = deps.isApproved(root, sha256);
      const allowances = approved ? config.allowances : null;
      return { key: `${sha256}${approved ? '+' : ''}`, files: config.files, allowances };
    },
    async review(root) {
      const { sha256, config, fault } = await current(root);
      return {
        path: join(root, WORKSPACE_FILE),
        sha256,
        approved: sha256 !== null && deps.isApproved(root, sha256),
        rules: config?.rules ?? 0,
        allowances: config?.told ?? [],
        fault,
      };
    },
  };
}

const NOTHING = { sha256: null, config: null, fault: null };

/** Changes when the file does; "" when there is none. */
async function stampOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    if (isErrno(error)) return '';
    throw error;
  }
}

async function readFile(path: string): Promise<Omit<Known, 'stamp'>> {
  let sha256: string | null = null;
  try {
    const bytes = await readBounded(path);
    sha256 = createHash('sha256').update(bytes).digest('hex');
    return { sha256, config: readWorkspaceConfig(bytes.toString('utf8')), fault: null };
  } catch (thrown) {
    return { sha256, config: null, fault: ContextdError.from(thrown).message };
  }
}

/** The workspace is not ours: no link is followed, no pipe waited for, no more read than may be. */
async function readBounded(path: string): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw unusable('it is not a regular file');
    if (stats.size > MAX_BYTES) throw unusable(`it has ${stats.size} bytes, the most is ${MAX_BYTES}`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (isErrno(error, 'ELOOP')) throw unusable('it is a link');
    if (isErrno(error)) throw unusable(`it cannot be read (${error.code})`);
    throw error;
  } finally {
    await file?.close();
  }
}

function unusable(problem: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${WORKSPACE_FILE}: ${problem}`);
}
