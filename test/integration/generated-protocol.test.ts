import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../dist/scripts/generate-protocol.js');

it('the generated types match the .proto files', () => {
  execFileSync(process.execPath, [SCRIPT, '--check'], { stdio: 'pipe' });
});
