/**
 * What a token of the HTTP door may do. `read`: see tools, events, figures and memories. `execute`: call tools. `decide`:
 * answer for the person.
 */
export const PERMISSIONS = ['read', 'execute', 'decide'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** A token of the HTTP door, without the token. */
export interface TokenGrant {
  readonly name: string;
  /** The only project that it may name; '' for the machine. */
  readonly scope: string;
  readonly permissions: readonly Permission[];
}
