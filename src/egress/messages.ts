import type { JsonObject } from '../core/json.ts';

/**
 * The user of a network namespace: the commands of a project, or one of its tools. Identified by the namespace alone,
 * never by anything that a program inside says.
 */
export interface NetworkScope {
  /** Real path of the project root. */
  readonly project: string;
  /** Null for commands of `safe_bash` and jobs. */
  readonly tool: string | null;
}

/** Equal scopes have equal keys. */
export type ScopeKey = string;

export function scopeKey({ project, tool }: NetworkScope): ScopeKey {
  return JSON.stringify([project, tool]);
}

/** A person's permission or denial. Denials win over permissions. */
export interface NetworkRule {
  /** `registry.example.com` or `*.corp.example`, optionally with `:port`. Normalized. */
  readonly pattern: string;
  readonly verdict: 'allow' | 'deny';
  /** Non-public addresses that this rule may reach, such as that of a mirror. */
  readonly privateAddresses: readonly string[];
  /** True if the name may resolve to any private address: a person allowed that for this rule. */
  readonly anyPrivate: boolean;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresMs: number | null;
}

/** The hosts that a scope may reach. A missing policy equals one without rules: everything is refused. */
export interface ScopePolicy {
  readonly rules: readonly NetworkRule[];
  /** Patterns that a tool declares: permissions cannot go beyond them. Absent: a person may allow any host. */
  readonly declared?: readonly string[];
  /** Why a host beyond `declared` is refused, as a clause. Absent: the words for a tool. */
  readonly undeclaredWhy?: string;
  /** Maximum bytes sent to one host while the daemon runs; null: no limit. */
  readonly uploadMaxBytes: number | null;
}

/** Settings of all scopes. */
export interface EgressSettings {
  /** The machine's own proxy, `http://[user:password@]host:port`, and the hosts that bypass it. */
  readonly upstream: { readonly url: string; readonly noProxy: readonly string[] } | null;
  /** PEM certificates trusted in addition to the system's when the proxy speaks TLS itself (credentials). */
  readonly extraCa: readonly string[];
}

/** A secret that the proxy adds to requests; it never enters the sandbox. */
export interface BoundCredential {
  readonly id: string;
  /** Exact name. */
  readonly host: string;
  readonly port: number;
  /** Name of the header, in lower case, and its complete value, such as `Basic …`; '' if it has expired. */
  readonly header: string;
  readonly value: string;
  /** For example GET and HEAD. */
  readonly methods: readonly string[];
  /** Globs over the path without its query, such as `/org/repo.git/*`; empty: every path. */
  readonly paths: readonly string[];
}

/** Sent by the daemon to the proxy process, in order. A later message replaces an earlier one on the same subject. */
export type EgressCommand =
  | { readonly op: 'settings'; readonly settings: EgressSettings }
  /** Closes open connections that the new policy does not allow. */
  | { readonly op: 'policy'; readonly scope: ScopeKey; readonly policy: ScopePolicy }
  | { readonly op: 'credentials'; readonly scope: ScopeKey; readonly credentials: readonly BoundCredential[] }
  /** Bytes that earlier processes sent to hosts of the scope. */
  | { readonly op: 'sent'; readonly scope: ScopeKey; readonly hosts: Readonly<Record<string, number>> }
  /** Answered by `synced` after every event before it. */
  | { readonly op: 'sync'; readonly id: number };

/** Sent by the spawner to the proxy process; `listener` and `datagrams` carry a handle. */
export type BridgeCommand =
  | { readonly op: 'listener'; readonly namespace: string; readonly scope: ScopeKey; readonly port: number }
  | { readonly op: 'datagrams'; readonly namespace: string; readonly scope: ScopeKey; readonly port: number }
  /** The namespace is gone: closes its listeners. */
  | { readonly op: 'close'; readonly namespace: string };

/** How a program reached for a host. */
export type Via = 'connect' | 'http' | 'socks' | 'direct' | 'dns';

/** Facts about a connection at the time it is allowed or refused. */
export interface ConnectionFact {
  /** Unique while the proxy process runs. */
  readonly id: number;
  readonly scope: ScopeKey;
  readonly namespace: string;
  /** Address inside the namespace at which the program reached the proxy (see `lanes`); null for `direct` and `dns`. */
  readonly lane: string | null;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** As requested, normalized if possible; at most 253 characters. */
  readonly host: string;
  /** 0 for `dns`. */
  readonly port: number;
  readonly via: Via;
  readonly allowed: boolean;
  /** The pattern that decided; null if no rule names the host. */
  readonly rule: string | null;
  /** Reason for the refusal, as a clause: `no rule of this project allows it`; '' if allowed. */
  readonly why: string;
  /** True if `ctxd network allow HOST[:PORT]` would change the decision. */
  readonly isAllowable: boolean;
  /** True if a credential bound by a person would change the decision. */
  readonly isBindable?: boolean;
}

/** Bytes of a connection from (`up`) and to (`down`) the sandbox. */
export interface Traffic {
  readonly id: number;
  readonly up: number;
  readonly down: number;
}

/** Sent by the proxy process. */
export type EgressEvent =
  /** It has started or restarted, and has no rules yet. */
  | { readonly ev: 'ready' }
  | { readonly ev: 'connection'; readonly fact: ConnectionFact }
  /** Includes connections refused later, for example because the TLS name differed; `why` then has the reason. */
  | { readonly ev: 'closed'; readonly traffic: Traffic; readonly why: string }
  /** Upper bound of the bytes sent to a host since the daemon started. Only if the policy has a limit. */
  | { readonly ev: 'sent'; readonly scope: ScopeKey; readonly host: string; readonly bytes: number }
  /** Number of refusals not reported one by one, because a program exceeded the limit. */
  | { readonly ev: 'unreported'; readonly scope: ScopeKey; readonly count: number }
  | { readonly ev: 'synced'; readonly id: number; readonly open: readonly Traffic[] }
  /** The certificate (PEM) that sandboxes of the scope must trust because a credential is bound there; null: none. */
  | { readonly ev: 'authority'; readonly scope: ScopeKey; readonly certificate: string | null }
  /** The host rejected the credential with this id. */
  | { readonly ev: 'rejected'; readonly scope: ScopeKey; readonly credential: string }
  | { readonly ev: 'log'; readonly level: 'info' | 'warn'; readonly event: string; readonly fields: JsonObject };

/** Port of the proxy in a namespace: HTTP and SOCKS5, on every loopback address. */
export const PROXY_PORT = 3128;
/** Ports on which programs that ignore the proxy variables are intercepted, in addition to the ports of rules. */
export const DIRECT_PORTS = [443, 80, 22] as const;
export const DNS_PORT = 53;
/**
 * Addresses of allowed names, for programs that ignore the proxy variables (127.64.0.0/10). Lanes are in 127.32.0.0/16:
 * each command reaches the proxy at its own address, which tells the call that a connection belongs to. Only a hint:
 * another command of the same scope could use it too.
 */
export const NAMES_NET = { address: '127.64.0.0', prefix: 10 } as const;
export const LANES_NET = { address: '127.32.0.0', prefix: 16 } as const;
