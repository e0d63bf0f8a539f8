import type { RuleSources } from '../../exact/rule-pack.ts';
import type { Finding } from '../../finding.ts';
import type { NamedText } from '../../leaves.ts';
import type { WorkspaceRules } from '../../workspace-rules.ts';

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

/** Asks for the values worth masking in each of some `.env` files. */
export interface SeedRequest {
  kind: 'seeds';
  id: number;
  texts: readonly string[];
}

/** Asks an idle thread to return memory, without a reply, or to compile what most outputs need. */
export type UpkeepRequest = { kind: 'collect' } | { kind: 'warm' };

export type ScanReply =
  | { kind: 'ready' }
  /** The thread has warmed up. */
  | { kind: 'warm' }
  /** The rules could not be read: code, message and remedy of the fault. */
  | { kind: 'refused'; message: string }
  /** One result for each text. */
  | { kind: 'scan'; id: number; results: Finding[][] }
  | { kind: 'seeds'; id: number; results: string[][] }
  /** `problem` names the kind of error only: its text could hold what was scanned. */
  | { kind: 'failed'; id: number; problem: string };
