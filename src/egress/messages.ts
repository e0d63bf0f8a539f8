import type { JsonObject } from '../core/json.ts';

/**
 * Who uses a network namespace: the commands of a project, or one of its tools. The namespace identifies it; nothing that
 * a program inside says can.
 */
export interface NetworkScope {
  /** Real path of the project root. */
  readonly project: string;
  /** Null: the commands of `safe_bash` and the jobs. */
  readonly tool: string | null;
}

/** The same text for equal scopes. */
export type ScopeKey = string;

export function scopeKey({ project, tool }: NetworkScope): ScopeKey {
  return JSON.stringify([project, tool]);
}

/** One thing that a person allowed or denied. A denial wins over every permission. */
export interface NetworkRule {
  /** `registry.example.com`, `*.corp.example`, either with `:port`. In its normal form. */
  readonly pattern: string;
  readonly verdict: 'allow' | 'deny';
  /** Addresses that are not public and to which this rule may lead, such as that of a mirror. */
  readonly privateAddresses: readonly string[];
  /** True if a name that leads to any private address is allowed: a person said so for this rule. */
  readonly anyPrivate: boolean;
  /** Milliseconds since the epoch; null: no end. */
  readonly expiresMs: number | null;
}

/** What the programs of a scope may reach. No policy is the same as one without rules: everything is refused. */
export interface ScopePolicy {
  readonly rules: readonly NetworkRule[];
  /** The patterns that a tool declares: no permission lets it reach anything else. Absent: a person may allow every host. */
  readonly declared?: readonly string[];
  /** Bytes that may be sent to one host within one session of the daemon; null: no limit. */
  readonly uploadMaxBytes: number | null;
}

/** What holds for all scopes. */
export interface EgressSettings {
  /** The machine's own proxy, `http://[user:password@]host:port`, and the hosts that bypass it. */
  readonly upstream: { readonly url: string; readonly noProxy: readonly string[] } | null;
  /** PEM certificates that the proxy trusts besides the system's, when it speaks TLS itself (credentials). */
  readonly extraCa: readonly string[];
}

/** A secret that the proxy adds to requests; the sandbox never has it. */
export interface BoundCredential {
  readonly id: string;
  /** Exact name. */
  readonly host: string;
  readonly port: number;
  /** The header that carries it, in lower case, and its whole value, such as `Basic …`; '': it has expired. */
  readonly header: string;
  readonly value: string;
  /** For example GET and HEAD. */
  readonly methods: readonly string[];
  /** Globs over the path without its query, such as `/org/repo.git/*`; empty: every path. */
  readonly paths: readonly string[];
}

/** From the daemon to the proxy process, in order. A later message replaces an earlier one of the same subject. */
export type EgressCommand =
  | { readonly op: 'settings'; readonly settings: EgressSettings }
  /** Cuts open connections that the new policy does not allow. */
  | { readonly op: 'policy'; readonly scope: ScopeKey; readonly policy: ScopePolicy }
  | { readonly op: 'credentials'; readonly scope: ScopeKey; readonly credentials: readonly BoundCredential[] }
  /** Bytes that earlier processes have sent to hosts of the scope. */
  | { readonly op: 'sent'; readonly scope: ScopeKey; readonly hosts: Readonly<Record<string, number>> }
  /** Answered by `synced` after every event before it. */
  | { readonly op: 'sync'; readonly id: number };

/** From the spawner to the proxy process; `listener` and `datagrams` come with a handle. */
export type BridgeCommand =
  | { readonly op: 'listener'; readonly namespace: string; readonly scope: ScopeKey; readonly port: number }
  | { readonly op: 'datagrams'; readonly namespace: string; readonly scope: ScopeKey; readonly port: number }
  /** The namespace is gone: its listeners are closed. */
  | { readonly op: 'close'; readonly namespace: string };

/** How a program asked for a host. */
export type Via = 'connect' | 'http' | 'socks' | 'direct' | 'dns';

/** What is known of a connection when it is allowed or refused. */
export interface ConnectionFact {
  /** Unique in one run of the proxy process. */
  readonly id: number;
  readonly scope: ScopeKey;
  readonly namespace: string;
  /** The address inside the namespace at which the program reached the proxy, see `lanes`; null for `direct` and `dns`. */
  readonly lane: string | null;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** As asked for, in its normal form if it has one; at most 253 characters. */
  readonly host: string;
  /** 0 for `dns`. */
  readonly port: number;
  readonly via: Via;
  readonly allowed: boolean;
  /** The pattern that decided; null: no rule names the host. */
  readonly rule: string | null;
  /** Why it was refused, as a clause: `no rule of this project allows it`; '' if it was allowed. */
  readonly why: string;
  /** True if `ctxd network allow HOST[:PORT]` would change it. */
  readonly isAllowable: boolean;
  /** True if a credential that a person binds would change it. */
  readonly isBindable?: boolean;
}

/** Bytes of a connection from (`up`) and to (`down`) the sandbox. */
export interface Traffic {
  readonly id: number;
  readonly up: number;
  readonly down: number;
}

/** From the proxy process. */
export type EgressEvent =
  /** It has started, for the first time or again, and knows nothing yet. */
  | { readonly ev: 'ready' }
  | { readonly ev: 'connection'; readonly fact: ConnectionFact }
  /** Also when the proxy refused it later, for example because the TLS name differed: `why` then says so. */
  | { readonly ev: 'closed'; readonly traffic: Traffic; readonly why: string }
  /** A host has got this many bytes at most, since the daemon started. Only if the policy has a limit. */
  | { readonly ev: 'sent'; readonly scope: ScopeKey; readonly host: string; readonly bytes: number }
  /** Refusals that were not reported one by one, because a program made more of them than the limit. */
  | { readonly ev: 'unreported'; readonly scope: ScopeKey; readonly count: number }
  | { readonly ev: 'synced'; readonly id: number; readonly open: readonly Traffic[] }
  /** The certificate (PEM) that sandboxes of the scope trust, because a credential is bound there; null: none. */
  | { readonly ev: 'authority'; readonly scope: ScopeKey; readonly certificate: string | null }
  /** The host answered that it does not accept the credential with this id. */
  | { readonly ev: 'rejected'; readonly scope: ScopeKey; readonly credential: string }
  | { readonly ev: 'log'; readonly level: 'info' | 'warn'; readonly event: string; readonly fields: JsonObject };

/** Where the proxy listens in a namespace: HTTP and SOCKS5, on every loopback address. */
export const PROXY_PORT = 3128;
/** The ports at which a program that ignores the proxy variables is met, besides those of rules. */
export const DIRECT_PORTS = [443, 80, 22] as const;
export const DNS_PORT = 53;
/**
 * Addresses of allowed names, for programs that ignore the proxy variables (127.64.0.0/10). Lanes are in 127.32.0.0/16: a
 * command reaches the proxy at an address of its own, which tells which call a connection belongs to. It is a hint: another
 * command of the same scope could use it too.
 */
export const NAMES_NET = { address: '127.64.0.0', prefix: 10 } as const;
export const LANES_NET = { address: '127.32.0.0', prefix: 16 } as const;
