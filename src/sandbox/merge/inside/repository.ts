import { execFileSync } from 'node:child_process';
import type { Commit } from '../../contract/merge-messages.ts';
import { gitCommand } from '../../snapshots/inside/git.ts';

const HEADS_MAX = 5_000;
const COMMITS_MAX = 20;
const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
};

/** The commits that references of the repository name; none if there is no repository. */
export function headsOf(root: string): string[] {
  const refs = run(root, ['for-each-ref', `--count=${HEADS_MAX}`, '--format=%(objectname)']);
  return [...new Set([...lines(refs), ...lines(run(root, ['rev-parse', '--verify', '-q', 'HEAD^0']))])];
}

/** The newest commits of the repository that are in none of `heads`. */
export function commitsWithout(root: string, heads: readonly string[]): Commit[] {
  const known = new Set(heads);
  const own = headsOf(root).filter((head) => !known.has(head));
  if (own.length === 0) return [];
  const input = [...own, ...heads.map((head) => `^${head}`)].join('\n');
  const args = ['log', '--stdin', '--ignore-missing', `--max-count=${COMMITS_MAX}`, '--no-show-signature'];
  return lines(run(root, [...args, '--format=%h %s'], input)).map((line) => {
    const end = line.indexOf(' ');
    return end < 0 ? { id: line, subject: '' } : { id: line.slice(0, end), subject: line.slice(end + 1) };
  });
}

/** '' if git fails. */
function run(root: string, args: readonly string[], input = ''): string {
  const [command, ...all] = gitCommand(args);
  try {
    const options = { cwd: root, env: ENVIRONMENT, input, encoding: 'utf8' as const, maxBuffer: 8 * 1024 * 1024 };
    return execFileSync(command, all, { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean);
}
