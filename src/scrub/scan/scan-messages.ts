import type { Finding } from '../finding.ts';
import type { NamedText } from '../leaf-context.ts';
import type { RuleSources } from '../rule-sources.ts';
import type { WorkspaceRules } from '../workspace-rules.ts';

/** What the thread is started with. */
export type ScanThreadData = RuleSources;

/** What the scanner sends to its worker, and what comes back. */
export interface ScanRequest {
  kind: 'scan';
  id: number;
  texts: readonly NamedText[];
  /** What the project's own file does to the rules; null: nothing. */
  workspace: WorkspaceRules | null;
}

/** The thread is idle: it may give memory back. Nothing is answered. */
export interface CollectRequest {
  kind: 'collect';
}

export type ScanReply =
  | { kind: 'ready' }
  /** Some time after `ready`: from now on a request is worked on when it arrives. */
  | { kind: 'warm' }
  /** The rules could not be read: code, message and remedy of the fault. */
  | { kind: 'refused'; message: string }
  | { kind: 'found'; id: number; findings: Finding[][] }
  /** `problem` names the kind of error only: its text could hold what was scanned. */
  | { kind: 'failed'; id: number; problem: string };
