import { ContextdError } from '../core/errors.ts';
import { PERMISSIONS } from '../core/permissions.ts';
import type {
  HttpChallenge__Output as HttpChallenge,
  HttpTokenRequest__Output as HttpTokenRequest,
  NewHttpToken__Output as NewHttpToken,
} from './generated/management.ts';
import { NONCE_PATTERN } from './http-proof.ts';
import { withOptionalRoot } from './management-checks.ts';

// What is checked of requests about the HTTP door, as management-checks.ts does for the others.

const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const DEFAULT_NAME = 'default';

export function challengeOf(request: HttpChallenge): HttpChallenge {
  if (request.nonce === '' || NONCE_PATTERN.test(request.nonce)) return request;
  throw new ContextdError('ARGS_INVALID', 'the nonce is not 32 to 128 hexadecimal digits', {
    remedy: 'Send random bytes as hexadecimal digits.',
  });
}

export function namedTokenOf<Request extends HttpTokenRequest>(request: Request): Request {
  const name = request.name === '' ? DEFAULT_NAME : request.name;
  if (NAME_PATTERN.test(name)) return { ...request, name };
  throw new ContextdError('ARGS_INVALID', `not a name for a token: ${JSON.stringify(name.slice(0, 80))}`, {
    remedy: 'Use at most 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit.',
  });
}

/** No permissions become the default ones. */
export function newTokenOf(request: NewHttpToken): NewHttpToken {
  const unknown = request.permissions.find((one) => !PERMISSIONS.some((known) => known === one));
  if (unknown !== undefined) {
    throw new ContextdError('ARGS_INVALID', `there is no permission ${JSON.stringify(unknown.slice(0, 80))}`, {
      remedy: `Choose from ${PERMISSIONS.join(', ')}.`,
    });
  }
  const given = new Set(request.permissions.length === 0 ? ['read', 'execute'] : request.permissions);
  return { ...withOptionalRoot(namedTokenOf(request)), permissions: PERMISSIONS.filter((one) => given.has(one)) };
}
