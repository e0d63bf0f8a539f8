import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

it('the generated types match the .proto files', () => {
  execFileSync(process.execPath, [join(ROOT, 'dist/scripts/generate-protocol.js'), '--check'], { stdio: 'pipe' });
});
