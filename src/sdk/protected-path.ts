import { relative, sep } from 'node:path';
import { ContextdError } from '../core/errors.ts';

/** PERMISSION_DENIED when `target` is protected, or lies below what is. `target` is real and inside the workspace. */
export function refuseProtected(workspace: string, target: string, protectedPaths: readonly string[]): void {
  const shown = relative(workspace, target).split(sep).join('/');
  const rule = findRule(shown, protectedPaths);
  if (rule !== null) throw protectedFault(shown, rule);
}

export function protectedFault(shown: string, rule: string): ContextdError {
  const howToAllow =
    'Programs outside the sandbox run or trust it, so no tool may write it; a person can, outside contextd.';
  return new ContextdError('PERMISSION_DENIED', `${shown} is protected (rule: ${rule})`, {
    remedy: howToAllow,
    details: { kind: 'write', path: shown, rule, how_to_allow: howToAllow },
  });
}

/**
 * The rule that protects a path, or null: one whose names follow each other in the path, at any depth. `.git` itself is
 * protected, and what git keeps in it is not. Letters count as equal in either case: some file systems do not tell them
 * apart.
 */
function findRule(shown: string, protectedPaths: readonly string[]): string | null {
  const path = `/${shown.toLowerCase()}/`;
  if (path.endsWith('/.git/')) return '.git';
  return protectedPaths.find((rule) => path.includes(`/${rule.toLowerCase()}/`)) ?? null;
}
