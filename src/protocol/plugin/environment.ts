/** Version of go-plugin's core protocol. The application protocol has a version of its own. */
export const CORE_PROTOCOL_VERSION = 1;

/** Version of proto/contextd/v1/plugin.proto and host.proto; raised only if an older tool would be misunderstood. */
export const APP_PROTOCOL_VERSION = 1;

/**
 * The cookie tells a program that contextd started it, not a person at a shell. It is not a secret and protects nothing.
 * It must never change, because tools of every language contain it.
 */
export const COOKIE_KEY = 'CONTEXTD_PLUGIN';
export const COOKIE_VALUE = '6f0d8a25b3e94c17a2b85fd13c7e60947d1be2a84f3950c6e8a7124d9b03f5ce';

/** Environment variables of the tool's process, named by the go-plugin library. */
export const PROTOCOL_VERSIONS_KEY = 'PLUGIN_PROTOCOL_VERSIONS';
export const CLIENT_CERT_KEY = 'PLUGIN_CLIENT_CERT';
export const SOCKET_DIR_KEY = 'PLUGIN_UNIX_SOCKET_DIR';
export const MULTIPLEX_KEY = 'PLUGIN_MULTIPLEX_GRPC';

/** The service name of the plugin in the health service. */
export const HEALTH_SERVICE = 'plugin';

/** The largest gRPC message between daemon and tool, bytes: four times 64 MiB of output. */
export const PLUGIN_MESSAGE_MAX_BYTES = 256 * 1024 * 1024;

/** The time to announce a number of the broker, and to connect to an announced one, milliseconds. */
export const BROKER_TIMEOUT_MS = 5_000;
