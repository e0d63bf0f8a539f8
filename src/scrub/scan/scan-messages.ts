import type { Finding } from '../finding.ts';

/** What the scanner sends to its worker, and what comes back. */
export interface ScanRequest {
  id: number;
  texts: readonly string[];
}

export type ScanReply =
  | { kind: 'ready' }
  /** The rules could not be read: code, message and remedy of the fault. */
  | { kind: 'refused'; message: string }
  | { kind: 'found'; id: number; findings: Finding[][] }
  /** `problem` names the kind of error only: its text could hold what was scanned. */
  | { kind: 'failed'; id: number; problem: string };
