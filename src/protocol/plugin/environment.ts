/** The handshake of go-plugin. Its core protocol is not the application protocol: each has a version for its own reason. */
export const CORE_PROTOCOL_VERSION = 1;

/** Version of proto/contextd/v1/plugin.proto and host.proto: it grows when an older tool would be misunderstood. */
export const APP_PROTOCOL_VERSION = 1;

/**
 * The cookie says that a program was started by contextd and not by a person at a shell. It is no secret and protects
 * nothing; tools of any language have it built in, so it never changes.
 */
export const COOKIE_KEY = 'CONTEXTD_PLUGIN';
export const COOKIE_VALUE = '6f0d8a25b3e94c17a2b85fd13c7e60947d1be2a84f3950c6e8a7124d9b03f5ce';

/** Variables of the tool's process, named by the library. */
export const PROTOCOL_VERSIONS_KEY = 'PLUGIN_PROTOCOL_VERSIONS';
export const CLIENT_CERT_KEY = 'PLUGIN_CLIENT_CERT';
export const SOCKET_DIR_KEY = 'PLUGIN_UNIX_SOCKET_DIR';
export const MULTIPLEX_KEY = 'PLUGIN_MULTIPLEX_GRPC';

/** Name under which the health service answers for the plugin. */
export const HEALTH_SERVICE = 'plugin';

/** One gRPC message between daemon and tool, bytes: room for 64 MiB of output four times over. */
export const PLUGIN_MESSAGE_MAX_BYTES = 256 * 1024 * 1024;

/** Milliseconds within which a number given to the broker must be announced, and an announced one dialled. */
export const BROKER_TIMEOUT_MS = 5_000;
