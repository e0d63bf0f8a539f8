/** A line that only a missing network explains. */
export interface NetworkComplaint {
  /** Null where the line does not name it. */
  readonly host: string | null;
}

const HOST = '([\\w.-]+)';
const ADDRESS = '\\[?([\\w.:-]+?)\\]?';
const UNRESOLVED =
  '(?:Name or service not known|Temporary failure in name resolution|No address associated with hostname)';

/** Each names the host in its first group. */
const WITH_HOST = [
  // curl, git and cargo over it, ssh
  `curl: \\(6\\) Could not resolve host: ${HOST}$`,
  `^fatal: unable to access '[^']*': Could not resolve host: ${HOST}$`,
  `\\[6\\] .{0,80}\\(Could not resolve host: ${HOST}\\)$`,
  `^ssh: Could not resolve hostname ${HOST}: `,
  `curl: \\(7\\) Failed to connect to ${ADDRESS} port \\d+`,
  `^fatal: unable to access '[^']*': Failed to connect to ${ADDRESS} port \\d+`,
  `\\[7\\] .{0,80}\\(Failed to connect to ${ADDRESS} port \\d+`,
  `^ssh: connect to host ${ADDRESS} port \\d+: Network is unreachable$`,
  `^fatal: unable to look up ${HOST} \\(port \\d+\\)`,
  // wget
  `^wget: unable to resolve host address ['‘]${HOST}['’]$`,
  `^Connecting to ${ADDRESS}:\\d+\\.\\.\\. failed: Network is unreachable\\.$`,
  // Node and npm
  `(?:^|Error: |reason: )getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ${HOST}$`,
  `(?:^|Error: |reason: )(?:connect|send) ENETUNREACH ${ADDRESS}:\\d+(?: - Local .{1,60})?$`,
  `Error: query[A-Z]\\w* ECONNREFUSED ${HOST}$`,
  // Python's urllib3, requests and pip
  `Failed to resolve '${HOST}' \\(\\[Errno -\\d+\\] `,
  `HTTPS?ConnectionPool\\(host='${HOST}', .*\\[Errno -\\d+\\] ${UNRESOLVED}`,
  // Go
  `dial (?:tcp|udp)[46]?: lookup ${HOST}(?: on \\S+)?: `,
  `dial (?:tcp|udp)[46]? ${ADDRESS}:\\d+: connect: network is unreachable$`,
  // bash, ping and others that say `program: host: why`
  `^\\S+: (?:line \\d+: )?${HOST}: ${UNRESOLVED}$`,
  `^\\S+: (?:line \\d+: )?/dev/(?:tcp|udp)/${ADDRESS}/\\d+: Network is unreachable$`,
  `^Could not connect to '${HOST}:\\d+': ${UNRESOLVED}`,
  // apt, Java
  `Temporary failure resolving '${HOST}'$`,
  `java\\.net\\.UnknownHostException: ${HOST}(?:: |$)`,
].map((source) => new RegExp(source));

const WITHOUT_HOST = [
  `\\[Errno (?:-2|-3|-5)\\] ${UNRESOLVED}`,
  '\\[Errno 101\\] Network is unreachable',
  `[:)] ?${UNRESOLVED}(?: at .{1,200} line \\d+\\.)?$`,
  ': Network is unreachable(?: at .{1,200} line \\d+\\.)?$',
  'errno=Network is unreachable$',
].map((source) => new RegExp(source));

/**
 * What a line says about the network, or null. A name of this very sandbox, an address of it, and names that are kept
 * from ever resolving say nothing about the network.
 */
export function readNetworkComplaint(line: string): NetworkComplaint | null {
  for (const pattern of WITH_HOST) {
    const host = pattern.exec(line)?.[1];
    if (host !== undefined) return isOutside(host) ? { host } : null;
  }
  return WITHOUT_HOST.some((pattern) => pattern.test(line)) ? { host: null } : null;
}

const LOCAL_NAMES = /(?:^|\.)(?:localhost|sandbox|localdomain|invalid|test|example)\.?$/i;
const LOCAL_ADDRESSES = /^(?:127\.[\d.]+|0\.0\.0\.0|::1?|::ffff:127\.[\d.]+)$/;

function isOutside(host: string): boolean {
  return !LOCAL_NAMES.test(host) && !LOCAL_ADDRESSES.test(host);
}
