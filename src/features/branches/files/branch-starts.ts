import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError } from '../../../core/errors.ts';
import type { RawPath } from '../../../fs/raw-path.ts';
import { formatListing, parseListing } from '../../../sandbox/contract/merge-listing.ts';
import type { Listing } from '../../../sandbox/contract/merge-messages.ts';
import type { LayerKind } from '../../../sandbox/contract/mounted.ts';
import { layerDir } from '../../../sandbox/layers/place.ts';
import type { Branch } from '../branch.ts';

/** What a branch was opened on. */
interface BranchStart {
  readonly kind: LayerKind;
  readonly heads: readonly string[];
  readonly hidden: readonly RawPath[];
}

/** `open`: the files of the parent when the branch was opened. `copied`: those that the copy got. */
type ListingName = 'open' | 'copied';

type StoredBranch = Pick<Branch, 'id' | 'project'>;

/** What the files of branches began as, kept beside them: a merge compares with it. */
export class BranchStarts {
  readonly #layersDir: string;

  constructor(layersDir: string) {
    this.#layersDir = layersDir;
  }

  async writeListing(branch: StoredBranch, name: ListingName, listing: Listing): Promise<void> {
    await writeWhole(this.#placeOf(branch, name), formatListing(listing));
  }

  async readListing(branch: StoredBranch, name: ListingName): Promise<Listing> {
    return parseListing(await readFile(this.#placeOf(branch, name), 'utf8'));
  }

  async writeStart(branch: StoredBranch, start: BranchStart): Promise<void> {
    await writeWhole(this.#placeOf(branch, 'opened'), JSON.stringify(start));
  }

  /** Throws NOT_FOUND if the files are gone. */
  async readStart(branch: StoredBranch): Promise<BranchStart> {
    try {
      // Written by `writeStart`, in a directory that only the daemon's user can enter.
      return JSON.parse(await readFile(this.#placeOf(branch, 'opened'), 'utf8'));
    } catch (cause) {
      throw new ContextdError('NOT_FOUND', `the files of branch ${branch.id} are gone`, {
        remedy: 'Return from it with "files":"discard".',
        cause,
      });
    }
  }

  /** The list of all files of the project before a merge writes the first one; '' if it could not be made. */
  async writeBefore(branch: StoredBranch, tree: string): Promise<void> {
    await writeWhole(this.#placeOf(branch, 'before'), tree);
  }

  /** '' if it was never written. */
  readBefore(branch: StoredBranch): Promise<string> {
    return readFile(this.#placeOf(branch, 'before'), 'utf8').catch(() => '');
  }

  #placeOf({ project, id }: StoredBranch, name: string): string {
    return join(layerDir(this.#layersDir, project, id), name);
  }
}

async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.draft`, text, { mode: 0o600 });
  await rename(`${file}.draft`, file);
}
