import { statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { readEnvironment } from '../config/env.ts';
import { findInstallRoot } from '../config/install-root.ts';
import { type Paths, resolvePaths } from '../config/paths.ts';
import { hookIn, runHook } from './hooks/hook-process.ts';
import { serveIn } from './mcp/serve-options.ts';

const paths = usablePaths();
const words = process.argv.slice(2);
const [hook, serving] = [hookIn(words), serveIn(words)];
if (paths !== undefined) enableCache(paths.compileCacheDir);
if (hook !== null) await runHook(hook, paths?.socket);
else if (serving !== null) await (await import('./mcp/serve-process.ts')).runServer(serving);
else await (await import('./process.ts')).runProcess();

/** Undefined if the environment leads to none. */
function usablePaths(): Paths | undefined {
  try {
    return resolvePaths(readEnvironment(), findInstallRoot());
  } catch {
    return undefined;
  }
}

/** The daemon's cache makes ctxd start faster. ctxd creates no directory for it, and leaves another user's alone. */
function enableCache(directory: string): void {
  try {
    if (statSync(directory).uid === process.getuid?.()) enableCompileCache(directory);
  } catch {
    // No daemon has run yet.
  }
}
