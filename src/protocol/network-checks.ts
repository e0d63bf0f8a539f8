import { ContextdError } from '../core/errors.ts';
import type {
  HostNetwork__Output as HostNetwork,
  NetworkChange__Output as NetworkChange,
  NetworkCredentialChange__Output as NetworkCredentialChange,
  NetworkLogRequest__Output as NetworkLogRequest,
} from './generated/management.ts';
import { PATH_MAX_CHARS, tooMuch, withOptionalRoot } from './management-checks.ts';

// What is checked of management requests about the network: see management-checks.ts.

/** At most this many certificates, settings, hosts and addresses of a host. */
const HOST_NETWORK_MAX = 200;
const CERTIFICATE_MAX_CHARS = 20_000;

/** Only sizes are checked here. The daemon reads certificates and settings. */
export function hostNetworkOf(request: HostNetwork): HostNetwork {
  const { certificates, ca_variables: variables, registries, private_hosts: hosts } = request;
  const lists = [certificates, variables, registries, hosts, ...hosts.map(({ addresses }) => addresses)];
  const isLong = certificates.some(({ length }) => length > CERTIFICATE_MAX_CHARS);
  if (!isLong && lists.every(({ length }) => length <= HOST_NETWORK_MAX)) return request;
  throw new ContextdError('ARGS_INVALID', `more than ${HOST_NETWORK_MAX} entries, or too long a certificate`, {
    remedy: 'Remove certificates or registries that no program needs from the configuration, then try again.',
  });
}

/** At most this many targets, and private addresses, of one change. */
const NETWORK_TARGETS_MAX = 200;
const NETWORK_LOG_DEFAULT = 50;
const NETWORK_LOG_MAX = 1000;
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;

/** Only the shape is checked here. The daemon reads the names. */
export function networkChangeOf(request: NetworkChange): NetworkChange {
  const { targets, private_addresses: addresses, for_ms: forMs, by } = request;
  if (targets.length > NETWORK_TARGETS_MAX || addresses.length > NETWORK_TARGETS_MAX)
    throw tooMuch('targets or addresses', NETWORK_TARGETS_MAX);
  const long = [...targets, ...addresses, by].find(({ length }) => length > 300);
  if (long !== undefined) throw tooMuch('characters in a name', 300);
  if (forMs > YEAR_MS) throw tooMuch('milliseconds', YEAR_MS);
  return withOptionalRoot(request);
}

const SECRET_MAX_CHARS = 8192;
const CREDENTIAL_LIST_MAX = 50;

/** Only sizes are checked here; the daemon reads the names. */
export function credentialOf(request: NetworkCredentialChange): NetworkCredentialChange {
  const { credential, secret } = request;
  if (credential === null)
    throw new ContextdError('ARGS_INVALID', 'the request has no credential', { remedy: 'Send one.' });
  if (secret.length > SECRET_MAX_CHARS) throw tooMuch('characters in a secret', SECRET_MAX_CHARS);
  const { methods, paths, placeholders, host, header, user, source, given_by: by } = credential;
  if ([methods, paths, placeholders].some(({ length }) => length > CREDENTIAL_LIST_MAX))
    throw tooMuch('methods, paths or variables', CREDENTIAL_LIST_MAX);
  const long = [...methods, ...paths, ...placeholders, host, header, user, source, by].some(
    ({ length }) => length > PATH_MAX_CHARS,
  );
  if (long) throw tooMuch('characters in a name', PATH_MAX_CHARS);
  return withOptionalRoot(request);
}

export function networkLogOf(request: NetworkLogRequest): NetworkLogRequest {
  if (request.limit > NETWORK_LOG_MAX) throw tooMuch('entries', NETWORK_LOG_MAX);
  return { ...withOptionalRoot(request), limit: request.limit || NETWORK_LOG_DEFAULT };
}
