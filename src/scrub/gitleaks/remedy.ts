import { join } from 'node:path';

/** The command that brings gitleaks and its rules, for messages. */
export function howToInstall(installRoot: string): string {
  return `Run ${join(installRoot, 'install.sh')} --gitleaks: it takes gitleaks from PATH, builds it with Go, or downloads it.`;
}
