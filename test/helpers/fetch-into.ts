import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContextdError } from '#src/core/errors.js';
import { type FetchOptions, fetchTool } from '#src/install/fetch.js';
import { FETCH_LIMITS } from '#src/install/limits.js';
import type { FetchedTool, Progress } from '#src/install/messages.js';
import { parseSource } from '#src/install/source.js';

export interface Fetched {
  tool: FetchedTool | null;
  error: ContextdError | null;
  /** Text of each file by its path in the tool. */
  files: Record<string, string>;
  progress: Progress[];
  /** Names in the directory that the fetch was given. */
  left: string[];
}

/** A home and a temporary directory that nothing of this machine's user is in. */
export class FetchPlace {
  readonly dir = mkdtempSync(join(tmpdir(), 'ctxd-fetch-'));
  readonly home = join(this.dir, 'home');
  #count = 0;

  constructor() {
    execFileSync('mkdir', [this.home]);
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  newInto(): string {
    return mkdtempSync(join(this.dir, `into-${this.#count++}-`));
  }

  /** What `fetchTool` gets, as the daemon gives it. */
  options(more: Partial<FetchOptions> = {}): FetchOptions {
    return {
      into: this.newInto(),
      limits: FETCH_LIMITS,
      signal: new AbortController().signal,
      onProgress: () => {},
      expected: {},
      signers: { minisign: [], sigstore: [], trusted_root: null },
      requireSignature: false,
      coverageDir: process.env.NODE_V8_COVERAGE,
      ...more,
      credentials: {
        PATH: process.env.PATH ?? '',
        HOME: this.home,
        AWS_EC2_METADATA_DISABLED: 'true',
        ...more.credentials,
      },
    };
  }

  /** Fetches `text` and reads what came. An error that is not a ContextdError fails the test. */
  async fetch(text: string, more: Partial<FetchOptions> = {}): Promise<Fetched> {
    const progress: Progress[] = [];
    const options = this.options({ onProgress: (one) => progress.push(one), ...more });
    const { into } = options;
    try {
      const tool = await fetchTool(parseSource(text, this.dir), options);
      return { tool, error: null, files: filesIn(tool.dir), progress, left: readdirSync(into) };
    } catch (error) {
      if (!(error instanceof ContextdError)) throw error;
      return { tool: null, error, files: {}, progress, left: readdirSync(into) };
    }
  }
}

function filesIn(dir: string): Record<string, string> {
  const paths = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => statSync(join(dir, path)).isFile()).sort();
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
}
