import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Of the name of a server. */
const NAME_MAX_CHARS = 32;

/** For each recorded `tools/list` of a directory, the words of `ctxd` that add a server with these tools. `root`: the installation. */
export function catalogServers(dir: string, root: string): string[][] {
  const program = join(root, 'dist/bench/lib/catalog-server-main.js');
  const files = readdirSync(dir).filter((name) => /\.json(\.gz)?$/.test(name));
  return files.map((name) => {
    const server = name
      .replace(/\.json(\.gz)?$/, '')
      .replaceAll('__', '-')
      .slice(0, NAME_MAX_CHARS);
    const command = [process.execPath, program, join(dir, name)];
    return ['upstream', 'add', server, '--yes', '--path', root, dir, '--', ...command];
  });
}
