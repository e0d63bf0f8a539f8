/** Milliseconds within which a program must send a request's head, a ClientHello or the first bytes of SSH. */
export const FIRST_BYTES_MAX_MS = 10_000;
/** Milliseconds of a connection for HTTP between two requests. */
export const KEEP_ALIVE_MS = 30_000;
/** Milliseconds without a byte in either direction after which a tunnel is cut. */
export const IDLE_MAX_MS = 600_000;
/** The same after one side has ended its direction. */
export const HALF_CLOSED_MAX_MS = 60_000;
/** Milliseconds to look a name up, and to connect. */
export const LOOKUP_MAX_MS = 10_000;
export const DIAL_MAX_MS = 10_000;
/** Milliseconds to look a name up that the machine's own proxy looks up too: many machines behind one cannot. */
export const UPSTREAM_LOOKUP_MAX_MS = 2_000;
/** Requests of one connection that wait for their answers. Programs ask for one thing after the other. */
export const UNANSWERED_MAX = 16;
/** Bytes of the head of a request, and of an answer of the machine's own proxy. */
export const HEAD_MAX_BYTES = 16 * 1024;
/** Connections of programs that are open at once, idle ones included: of a scope, and of all. */
export const CLIENTS_PER_SCOPE = 1_024;
export const CLIENTS_MAX = 4_096;
/** Connections to hosts that are open at once, of a scope. */
export const CONNECTIONS_PER_SCOPE = 512;
/** Threads of the system's resolver (UV_THREADPOOL_SIZE), and how many of them one scope uses at once. */
export const RESOLVER_THREADS = 32;
export const LOOKUPS_AT_ONCE = 8;
/** Names of a scope that wait to be looked up. */
export const LOOKUPS_WAITING = 512;
/** Names with an address in a namespace, and hosts of a scope of which the bytes are counted. */
export const NAMES_MAX = 4_096;
export const HOSTS_PER_SCOPE = 4_096;
/** The count of a host survives the process up to this many bytes, or a hundredth of the limit if that is more. */
export const UPLOAD_STEP_BYTES = 65_536;
/** How often a command gets the reason why one tunnel is refused, and the milliseconds for which refusals count. */
export const SAME_REFUSALS = 20;
export const SAME_REFUSALS_MS = 5_000;
/** Milliseconds after which the connection of a further one ends without a word. */
export const SILENT_REFUSAL_MS = 1_000;
/** Refusals of a scope that are reported: at once, and per second afterwards. All are carried out. */
export const REFUSALS_AT_ONCE = 300;
export const REFUSALS_PER_SECOND = 20;
