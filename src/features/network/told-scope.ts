import type { BoundCredential, NetworkScope } from '../../egress/messages.ts';
import type { PolicyRule } from './policy.ts';
import type { SentBytes } from './sent-bytes.ts';

/** Requests that carry the credential which is bound to their host. */
export interface CredentialUse {
  readonly host: string;
  readonly port: number;
  readonly requests: readonly Pick<BoundCredential, 'paths' | 'methods'>[];
}

/** What a tool has of the network besides its grants. */
export interface ToolUse {
  /** Null: none. */
  readonly credential: CredentialUse | null;
  /** Why a host that was not granted is refused, as a clause; '' for a tool with a tool.json. */
  readonly undeclaredWhy: string;
  /** True: without a grant everything is refused, and known, where it would have no network. Default: false. */
  readonly isWatched?: boolean;
}

/** A scope that the proxy process knows, with what its policy was made of. */
export interface ToldScope {
  readonly scope: NetworkScope;
  readonly grants: readonly string[];
  /** For a tool. Commands use whatever credential is bound. */
  readonly use: ToolUse;
  rules: readonly PolicyRule[];
  /** True if the proxy process may know of credentials. */
  hasCredentials: boolean;
  readonly sent: SentBytes;
}

/** A scope, with what its policy is made of. */
export type IntroducedScope = Pick<ToldScope, 'scope' | 'grants' | 'use'>;

/** What a proxy process knows, as plain data. */
export type NetworkState = readonly (IntroducedScope & { readonly sent: Readonly<Record<string, number>> })[];

export const USUAL_USE: ToolUse = { credential: null, undeclaredWhy: '' };

/** The credential of the host, for nothing but these requests. */
export function usedBy(use: CredentialUse | null, bound: readonly BoundCredential[]): BoundCredential[] {
  const found = bound.find(({ host, port }) => host === use?.host && port === use.port);
  return use === null || found === undefined ? [] : use.requests.map((requests) => ({ ...found, ...requests }));
}
