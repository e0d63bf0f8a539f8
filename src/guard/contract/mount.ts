/**
 * One mount in the sandbox's file tree. `pin`: a tool may write next to the source, so the source is opened once
 * without following links and passed as a descriptor. bubblewrap then fails if something else is there.
 */
export type Mount =
  | { readonly kind: 'bind' | 'ro-bind'; readonly source: string; readonly dest: string; readonly pin?: boolean }
  | { readonly kind: 'tmpfs'; readonly dest: string; readonly sizeBytes: number }
  | { readonly kind: 'dev-bind'; readonly source: string; readonly dest: string }
  | { readonly kind: 'symlink'; readonly target: string; readonly dest: string }
  | { readonly kind: 'proc' | 'dev' | 'dir' | 'remount-ro'; readonly dest: string };
