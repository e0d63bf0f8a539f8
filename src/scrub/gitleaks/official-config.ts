import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ContextdError } from '../../core/errors.ts';
import type { RuleFile } from '../exact/rule-pack.ts';
import { CONFIG_SHA256, PINNED_VERSION } from './pinned.ts';

/** How messages call the configuration. */
const CONFIG_NAME = 'gitleaks.toml';
const SHIPPED = fileURLToPath(new URL('./gitleaks.toml', import.meta.url));

/**
 * Reads gitleaks' default configuration of the pinned version, which every installation has. Throws INTERNAL_ERROR if the
 * file is not exactly that version's; a missing file is a system error.
 */
export function readOfficialConfig(file: string = SHIPPED): RuleFile {
  const text = readFileSync(file, 'utf8');
  const sha256 = createHash('sha256').update(text).digest('hex');
  if (sha256 === CONFIG_SHA256) return { name: CONFIG_NAME, text };
  throw new ContextdError(
    'INTERNAL_ERROR',
    `${file} has sha256 ${sha256}: it is not the configuration of gitleaks ${PINNED_VERSION}, so it is not used`,
    { remedy: 'Install contextd again with ./install.sh.' },
  );
}
