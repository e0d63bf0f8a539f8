import { isNetworkGrant, networkTarget, type ToolGrant } from './grants.ts';
import type { ToolManifest } from './manifest.ts';

const WORDS: Readonly<Record<string, string>> = {
  exec: 'run commands in the project, each in a sandbox',
  scrub: 'have texts searched for secrets',
  log: "write to contextd's log",
  memory_search: 'search what earlier work taught',
  memory_store: 'store what its work taught',
  checkpoint_save: 'save checkpoints',
  checkpoint_restore: 'restore checkpoints',
};

/** What each grant lets the tool do, in plain words and in the order of `grants`. */
export function describeGrants({ grants }: Pick<ToolManifest, 'grants'>): string[] {
  return grants.map(describeGrant);
}

function describeGrant(grant: ToolGrant): string {
  return isNetworkGrant(grant) ? `reach ${networkTarget(grant)}` : (WORDS[grant] ?? grant);
}
