import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { within } from '../../core/deadline.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { KeyedLock, Lock } from '../../core/lock.ts';
import { directoryIdentity } from '../../fs/directory-identity.ts';
import { removeTreeInBackground } from '../../fs/remove-tree.ts';
import type { LayerKind, LayerMounts, LayerUser, MountedLayer } from '../contract/mounted.ts';
import type { WorkspaceView } from '../contract/policy.ts';
import { Holder, notMounted, runStep } from './holder.ts';
import { refuseMountsBelow } from './mounts-below.ts';
import { openMovedLayer } from './moved-layer.ts';
import { type LayerPlace, layerDir, placeOf, REMOVED } from './place.ts';

export interface LayersDeps {
  /** Directory of all layers. */
  root: string;
  /** The command line of the namespaces in which mounts are made; root may need none and get []. Null: nothing can be mounted. */
  enter(): Promise<readonly string[] | null>;
  /** Unpacks the files of a branch from a backup, as the owner of the workspace. */
  unpack(workspace: string, archive: string, dir: string): Promise<void>;
}

/** One branch whose files are mounted, or will be in a moment. */
interface Mounted {
  holder: Holder | null;
  /** Which directory the base was. */
  directory: string;
  users: number;
  isRemoved: boolean;
  readonly chain: readonly string[];
  readonly running: Set<LayerUser>;
  /** One step at a time. */
  readonly steps: Lock;
}

/**
 * The files of branches that have their own. The view of a branch is mounted on the path of the workspace in a namespace that
 * lives as long as something uses it, one for all that run in the branch at once: the kernel knows no good answer to one
 * upper directory in two overlays.
 */
export class Layers implements LayerMounts {
  readonly #deps: LayersDeps;
  /** By directory of the layer. */
  readonly #mounted = new Map<string, Mounted>();
  /** By workspace and which directory it is: why it can have no overlay, or null. */
  readonly #probed = new Map<string, Promise<string | null>>();
  readonly #removing = new Set<Promise<void>>();
  /** By workspace: the branches around a branch are unpacked with it. */
  readonly #unpacking = new KeyedLock();

  constructor(deps: LayersDeps) {
    this.#deps = deps;
  }

  /** Removes what a killed daemon left half removed. */
  sweep(): void {
    const { root } = this.#deps;
    for (const name of namesIn(root)) if (name.startsWith(REMOVED)) this.#removeLater(join(root, name));
  }

  /** Why the workspace can have no overlay; null if it can. Tried once for each directory. */
  whyNot(workspace: string): Promise<string | null> {
    refuseMountsBelow(workspace);
    const key = JSON.stringify([workspace, directoryIdentity(workspace)]);
    const known = this.#probed.get(key);
    if (known !== undefined) return known;
    const probed = this.#probe(workspace);
    this.#probed.set(key, probed);
    // What failed is tried again: a person may have fixed it.
    void probed.then((why) => why !== null && this.#probed.delete(key));
    return probed;
  }

  /**
   * Makes the empty layer of a branch in the overlay, or the empty directory for its copy. Throws SANDBOX_UNAVAILABLE.
   */
  async make({ path, layer }: WorkspaceView, kind: LayerKind): Promise<LayerPlace> {
    const place = placeOf(this.#deps.root, path, layer?.at(-1) ?? '');
    const owner = lstatSync(path);
    mkdirSync(place.dir, { recursive: true, mode: 0o700 });
    const [files, ...own] = kind === 'overlay' ? [place.upper, place.work] : [place.copy];
    for (const dir of own) mkdirSync(dir, { mode: 0o700 });
    mkdirSync(files, { mode: 0o700 });
    if (owner.uid !== process.getuid?.()) chownSync(files, owner.uid, owner.gid);
    chmodSync(files, owner.mode & 0o7777);
    return place;
  }

  /** True if one of the branches is a copy, which can lie under no overlay. */
  isCopy(workspace: string, chain: readonly string[]): boolean {
    return chain.some((branch) => {
      const { copy } = placeOf(this.#deps.root, workspace, branch);
      return existsSync(copy) || existsSync(`${copy}.tar`);
    });
  }

  /** Mounts a view, or takes part in its mount. Throws SANDBOX_UNAVAILABLE. */
  async lease({ path, layer }: WorkspaceView): Promise<MountedLayer> {
    const chain = layer ?? [];
    const branch = chain.at(-1) ?? '';
    const { dir } = placeOf(this.#deps.root, path, branch);
    const mounted = this.#mounted.get(dir) ?? newMounted(chain);
    this.#mounted.set(dir, mounted);
    mounted.users += 1;
    const release = this.#releaseOnce(dir, mounted);
    try {
      await this.#unpacking.run(path, () => this.#unpackMoved(path, chain));
      const holder = await mounted.steps.run(() => this.#open(mounted, path));
      const own = new Set<LayerUser>();
      return {
        root: holder.root,
        enter: holder.enter,
        uses: (one) => {
          own.add(one);
          mounted.running.add(one);
          if (mounted.isRemoved) one.kill();
        },
        release: () => {
          for (const one of own) mounted.running.delete(one);
          release();
        },
      };
    } catch (cause) {
      release();
      throw cause instanceof ContextdError ? cause : notMounted(branch, path, cause);
    }
  }

  /** Shows those who have the view mounted already what the base is now. */
  async refresh({ path, layer }: WorkspaceView): Promise<void> {
    const mounted = this.#mounted.get(placeOf(this.#deps.root, path, layer?.at(-1) ?? '').dir);
    if (mounted === undefined) return;
    await mounted.steps.run(async () => {
      if (mounted.holder?.isAlive === true && !this.isCopy(path, mounted.chain)) await mounted.holder.refresh(path);
    });
  }

  /** Kills what runs in a branch, or in a branch in it, and removes its files. Does nothing if it has none. */
  async remove(project: string, branch: string): Promise<void> {
    const dir = layerDir(this.#deps.root, project, branch);
    for (const [other, mounted] of this.#mounted) {
      if (dirname(other) === dirname(dir) && mounted.chain.includes(branch)) {
        this.#mounted.delete(other);
        await this.#end(other, mounted);
      }
    }
    this.#setAside(dir);
  }

  /** Removes the layers of all branches but these, which a killed daemon may have left. */
  keepOnly(live: readonly { readonly project: string; readonly branch: string }[]): void {
    const kept = new Set(live.map(({ project, branch }) => layerDir(this.#deps.root, project, branch)));
    for (const project of namesIn(this.#deps.root)) {
      if (project.startsWith(REMOVED)) continue;
      for (const name of namesIn(join(this.#deps.root, project))) {
        const dir = join(this.#deps.root, project, name);
        if (!kept.has(dir) && !this.#mounted.has(dir)) this.#setAside(dir);
      }
    }
  }

  /** Ends all namespaces; call it when nothing in them is alive. What takes long to remove is removed at the next start. */
  async stop(): Promise<void> {
    for (const [dir, mounted] of this.#mounted) await mounted.steps.run(() => this.#close(dir, mounted));
    await within(REMOVE_AT_END_MS, Promise.allSettled(this.#removing), () => {});
  }

  async #open(mounted: Mounted, workspace: string): Promise<Holder> {
    if (mounted.isRemoved) throw notMounted(mounted.chain.at(-1) ?? '', workspace, new Error('it is being closed'));
    refuseMountsBelow(workspace);
    const directory = directoryIdentity(workspace);
    const place = placeOf(this.#deps.root, workspace, mounted.chain.at(-1) ?? '');
    const isCopy = existsSync(place.copy);
    const known = mounted.holder;
    if (known?.isAlive === true && mounted.directory === directory) {
      if (!isCopy) await known.refresh(workspace);
      return known;
    }
    // Nothing may stay in a mount over a directory that is no longer the workspace, or whose holder was killed.
    await killAll(mounted.running);
    await known?.stop();
    mounted.holder = null;
    const holder = await this.#hold(place.lock);
    try {
      if (isCopy) await holder.mountCopy(place.copy, workspace);
      else await holder.mountOverlay(this.#planOf(workspace, mounted.chain));
      if (directoryIdentity(workspace) !== directory) throw new Error(`${workspace} was replaced meanwhile`);
    } catch (cause) {
      await holder.stop();
      throw cause;
    }
    mounted.holder = holder;
    mounted.directory = directory;
    return holder;
  }

  /** Also of the branches around it, whose files it sees. */
  async #unpackMoved(path: string, chain: readonly string[]): Promise<void> {
    for (const [index, branch] of chain.entries()) {
      const view: WorkspaceView = { path, layer: chain.slice(0, index + 1) };
      await openMovedLayer(placeOf(this.#deps.root, path, branch), {
        make: (kind) => this.make(view, kind),
        unpack: (archive, dir) => this.#deps.unpack(path, archive, dir),
      });
    }
  }

  async #hold(lock: string): Promise<Holder> {
    const enter = await this.#deps.enter();
    if (enter === null) throw new Error('this machine lets an ordinary user make no mount namespace');
    return Holder.open(enter, lock);
  }

  #planOf(workspace: string, chain: readonly string[]): { lowers: string[]; upper: string; work: string } {
    const places = chain.map((branch) => placeOf(this.#deps.root, workspace, branch));
    const [own, ...outer] = places.reverse();
    if (own === undefined) throw new Error('a view without a branch');
    return { lowers: [...outer.map(({ upper }) => upper), workspace], upper: own.upper, work: own.work };
  }

  #releaseOnce(dir: string, mounted: Mounted): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      mounted.users -= 1;
      if (mounted.users > 0) return;
      void mounted.steps.run(async () => {
        if (mounted.users > 0) return;
        if (this.#mounted.get(dir) === mounted) this.#mounted.delete(dir);
        await this.#close(dir, mounted);
      });
    };
  }

  /** The overlay leaves a directory that its owner cannot open: with it, an ordinary user could not remove the layers. */
  async #close(dir: string, mounted: Mounted): Promise<void> {
    await mounted.holder?.stop();
    mounted.holder = null;
    try {
      chmodSync(join(dir, 'work', 'work'), 0o700);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
    }
  }

  /** Large trees take seconds to remove. */
  #setAside(dir: string): void {
    const removed = join(this.#deps.root, `${REMOVED}${randomBytes(8).toString('hex')}`);
    try {
      renameSync(dir, removed);
      if (namesIn(dirname(dir)).length === 0) rmdirSync(dirname(dir));
    } catch (cause) {
      if (!isErrno(cause, 'ENOENT', 'ENOTEMPTY')) throw cause;
    }
    this.#removeLater(removed);
  }

  #removeLater(dir: string): void {
    const removing = removeAll(dir).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  async #end(dir: string, mounted: Mounted): Promise<void> {
    mounted.isRemoved = true;
    await killAll(mounted.running);
    await mounted.steps.run(() => this.#close(dir, mounted));
  }

  /** Mounts an overlay over the workspace on a directory of our own, writes a file and deletes one of a lower directory. */
  async #probe(workspace: string): Promise<string | null> {
    const dir = join(this.#deps.root, `${REMOVED}${randomBytes(8).toString('hex')}`);
    const [lower, upper, work, at] = [join(dir, 'lower'), join(dir, 'upper'), join(dir, 'work'), join(dir, 'at')];
    try {
      for (const one of [lower, upper, work, at]) mkdirSync(one, { recursive: true, mode: 0o700 });
      writeFileSync(join(lower, 'file'), '', { mode: 0o600 });
      mkdirSync(join(lower, 'directory'), { mode: 0o700 });
      const holder = await this.#hold(join(dir, 'lock'));
      try {
        await holder.mountOverlay({ lowers: [lower, workspace], upper, work }, at);
        await runStep([...holder.enter, 'sh', '-c', TRY, 'contextd-probe', at], []);
        return null;
      } finally {
        await holder.stop();
      }
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause);
    } finally {
      this.#removeLater(dir);
    }
  }
}

/** A write, and what the overlay needs attributes and device files for: a deleted file, and a new directory in place of an old one. */
const TRY = `cd "$1" && : >written && rm file && rmdir directory && mkdir directory && [ ! -e file ]`;

/** Milliseconds that an orderly stop waits for what is being removed. */
const REMOVE_AT_END_MS = 5_000;

function newMounted(chain: readonly string[]): Mounted {
  return {
    holder: null,
    directory: '',
    users: 0,
    isRemoved: false,
    chain,
    running: new Set(),
    steps: new Lock(),
  };
}

async function killAll(running: ReadonlySet<LayerUser>): Promise<void> {
  for (const one of running) one.kill();
  await Promise.all([...running].map((one) => one.gone));
}

/** As an ordinary user it takes a namespace: the overlay makes directories that their owner cannot open. */
async function removeAll(dir: string): Promise<void> {
  const asRoot = process.getuid?.() === 0 ? [] : ['unshare', '--user', '--map-root-user', '--'];
  await runStep([...asRoot, 'rm', '-rf', '--', dir], []).catch(() => removeTreeInBackground(dir));
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return [];
    throw cause;
  }
}
