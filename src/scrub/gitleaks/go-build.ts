import { execa } from 'execa';
import { GO_MODULE, PINNED_VERSION } from './pinned.ts';

export interface GoBuild {
  /** False: there is no Go on this machine. */
  isThere: boolean;
  /** Why it failed, in Go's words; undefined when it did not. */
  fault: string | undefined;
}

/** Milliseconds for a build. */
const BUILD_MS = 10 * 60_000;

/** Builds the pinned gitleaks into a folder. Go takes its settings, such as its proxy, from the caller's environment. */
export async function buildWithGo(folder: string): Promise<GoBuild> {
  const probe = await execa('go', ['version'], { timeout: 10_000, reject: false });
  if (probe.failed) return { isThere: false, fault: undefined };
  const module = `${GO_MODULE}@v${PINNED_VERSION}`;
  const built = await execa('go', ['install', module], { env: { GOBIN: folder }, timeout: BUILD_MS, reject: false });
  return { isThere: true, fault: built.failed ? lastLine(built.stderr ?? '') : undefined };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
