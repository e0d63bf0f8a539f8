import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { readEnvironment } from '../config/env.ts';
import { findInstallRoot } from '../config/install-root.ts';
import { resolvePaths } from '../config/paths.ts';

// The cache halves the time until the daemon answers. It is in the daemon's own directory, because other users of the
// machine can write to Node's default directory.
try {
  const { compileCacheDir } = resolvePaths(readEnvironment(), findInstallRoot());
  mkdirSync(compileCacheDir, { recursive: true, mode: 0o700 });
  enableCompileCache(compileCacheDir);
} catch {
  // The program itself reports the problem with the directories.
}
const [{ compose }, { runProgram }] = await Promise.all([import('./compose.ts'), import('./program.ts')]);
await runProgram(process.argv, compose);
