import { join } from 'node:path';
import type { Logger } from '../core/log.ts';
import { createArgumentCompiler } from './arguments.ts';
import { verifyBundle } from './bundle.ts';
import { BundleSeal } from './bundle-seal.ts';
import type { CatalogTool, ToolSource } from './catalog.ts';
import { readTool } from './read-bundle.ts';

/** The tools that people installed: each is a bundle of its own, `<toolsDir>/<sha256>/`. */
export interface InstalledSource extends ToolSource {
  /** Follows a change of what projects accept. A bundle that cannot be used is left out, and the log says why. */
  refresh(): Promise<void>;
  /**
   * Reads a bundle, also one that no project accepts now. Throws INTEGRITY_FAILED with the remedy if its files are missing
   * or were changed.
   */
  read(sha256: string, remedy: string): Promise<CatalogTool>;
  /** Calls the listener after each refresh, until the returned function is called. */
  follow(listener: () => void): () => void;
}

export interface InstalledSourceDeps {
  toolsDir: string;
  /** The hashes of the installed tools that any project accepts. */
  accepted(): Promise<ReadonlySet<string>>;
  logger: Logger;
}

/** What a person does about an installed bundle that is missing or has changed. */
export const REINSTALL = 'Run `ctxd tool install` in the project to fetch it again.';

export function createInstalledSource({ toolsDir, accepted, logger }: InstalledSourceDeps): InstalledSource {
  const known = new Map<string, { tool: CatalogTool; seal: BundleSeal }>();
  const followers = new Set<() => void>();
  const compile = createArgumentCompiler('others');
  const read = async (sha256: string, remedy: string): Promise<CatalogTool> => {
    const dir = join(toolsDir, sha256);
    // Read before it is hashed: what was read is then what the hash names.
    const [read] = await Promise.allSettled([readTool(dir, { dir, sha256, origin: 'installed' }, compile)]);
    await verifyBundle(dir, sha256, remedy);
    if (read.status === 'rejected') throw read.reason;
    return read.value;
  };
  const open = async (sha256: string): Promise<void> => {
    const dir = join(toolsDir, sha256);
    try {
      const tool = await read(sha256, REINSTALL);
      const seal = new BundleSeal(dir, sha256, REINSTALL);
      await seal.close();
      known.set(sha256, { tool, seal });
    } catch (thrown) {
      logger.error('catalog.tool_unusable', { sha256 }, thrown);
    }
  };
  const refresh = async (): Promise<void> => {
    const wanted = await accepted();
    for (const sha256 of known.keys()) if (!wanted.has(sha256)) known.delete(sha256);
    for (const sha256 of wanted) if (!known.has(sha256)) await open(sha256);
    for (const listener of followers) listener();
  };
  return {
    start: refresh,
    refresh,
    read,
    follow(listener) {
      followers.add(listener);
      return () => void followers.delete(listener);
    },
    async stop() {
      known.clear();
    },
    list: () => [...known.values()].map(({ tool }) => tool),
    async verify(tool) {
      await known.get(tool.sha256)?.seal.check();
    },
  };
}
