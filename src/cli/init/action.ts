/** One change to the project. Paths are relative to its root. */
export type Action =
  | { kind: 'make_directory'; path: string }
  | { kind: 'write'; path: string; text: string; replaces: boolean; mode: number }
  | { kind: 'link'; path: string; target: string; replaces: boolean }
  | { kind: 'remove'; path: string }
  | { kind: 'remove_directory'; path: string };
