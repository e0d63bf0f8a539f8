import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The directory that holds what `dependencyFiles` names. */
export const MODULES = join(import.meta.dirname, '../../node_modules');

/** Larger files come in parts, which nobody writes back as a whole. */
const MAX_BYTES = 12_000;
const TEXT_FILE = /\.(?:[cm]?[jt]s|json|md|ya?ml|css)$/;
/** Names of what is most likely to be mistaken for a secret. */
const NAMES_SECRETS = /password|secret|token|api_?key|auth|credential/i;

/** Text files of the dependencies, evenly chosen; half of them name secrets. */
export function dependencyFiles(count: number): string[] {
  const names = readdirSync(MODULES, { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT_FILE.test(name))
    .filter((name) => {
      const stat = statSync(join(MODULES, name), { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.size > 20 && stat.size <= MAX_BYTES;
    })
    .sort();
  const telling = names.filter((name) => NAMES_SECRETS.test(readFileSync(join(MODULES, name), 'utf8')));
  const named = new Set(telling);
  const rest = names.filter((name) => !named.has(name));
  const spread = (list: string[]): string[] =>
    list.filter((_, at) => at % Math.max(1, Math.floor(list.length / (count / 2))) === 0).slice(0, count / 2);
  return [...spread(telling), ...spread(rest)];
}
