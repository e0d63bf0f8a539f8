import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { readEnvironment } from '../config/env.ts';
import { findInstallRoot } from '../config/install-root.ts';
import { resolvePaths } from '../config/paths.ts';

// Halves the time until the daemon answers. In the daemon's own directory: Node's default is one that other users of
// the machine could have filled.
try {
  const { compileCacheDir } = resolvePaths(readEnvironment(), findInstallRoot());
  mkdirSync(compileCacheDir, { recursive: true, mode: 0o700 });
  enableCompileCache(compileCacheDir);
} catch {
  // What is wrong with the directories is told by the program itself.
}
const [{ compose }, { runProgram }] = await Promise.all([import('./compose.ts'), import('./program.ts')]);
await runProgram(process.argv, compose);
