import { statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { readEnvironment } from '../config/env.ts';
import { findInstallRoot } from '../config/install-root.ts';
import { resolvePaths } from '../config/paths.ts';

// The daemon's cache makes ctxd start faster. ctxd creates no directory for it, and leaves another user's alone.
try {
  const { compileCacheDir } = resolvePaths(readEnvironment(), findInstallRoot());
  if (statSync(compileCacheDir).uid === process.getuid?.()) enableCompileCache(compileCacheDir);
} catch {
  // No daemon has run yet.
}
const { runProcess } = await import('./process.ts');
await runProcess();
