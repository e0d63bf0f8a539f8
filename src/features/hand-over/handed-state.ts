import type { CarriedCall } from '../../dispatch/carried-call.ts';
import type { SpawnerState } from '../../sandbox/contract/heritage.ts';
import type { VaultsState } from '../../scrub/vault/session-vaults.ts';
import type { HeldBranches } from '../branches/branches.ts';
import type { JobsState } from '../jobs/jobs.ts';
import type { NetworkState } from '../network/network.ts';
import type { UndoState } from '../undo/call-changes.ts';

/** What a daemon hands to the next one: everything that is only in its memory and must not be lost. Plain data. */
export interface HandedState {
  readonly vaults: VaultsState;
  readonly calls: readonly CarriedCall[];
  readonly jobs: JobsState;
  readonly undo: UndoState;
  readonly branches: HeldBranches;
  /** Null: nothing runs in a sandbox, and the next daemon starts its own spawner. */
  readonly spawner: SpawnerState | null;
  /** True if the next daemon has inherited the streams of a spawner, whatever became of it. */
  readonly hasStreams: boolean;
  readonly network: NetworkState;
  /** Opens the questions of MCP servers that clients carry. */
  readonly passing: Buffer;
}
