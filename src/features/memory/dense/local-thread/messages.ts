export interface LocalRequest {
  readonly id: number;
  /** A query is answered before the rest of a batch. */
  readonly isQuery: boolean;
  readonly texts: readonly string[];
}

export type LocalReply = { readonly id: number } & (
  | { readonly revision: string; readonly vectors: unknown[] }
  | { readonly fault: string; readonly isMissing: boolean }
);
