import { ContextdError } from '../../core/errors.ts';
import type { TokenGrant } from '../../core/permissions.ts';

/** The project that a request means. Throws PERMISSION_DENIED for another one than that of the token. */
export function projectOf(given: string, { name, scope }: TokenGrant): string {
  if (scope === '' || given === scope) return given;
  if (given === '') return scope;
  throw new ContextdError('PERMISSION_DENIED', `the token ${name} is for another project than ${given}`, {
    remedy: 'Make one for it: `ctxd http token --name NAME --project DIR`.',
  });
}
