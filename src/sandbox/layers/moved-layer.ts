import { existsSync, lchownSync, lstatSync, rmSync } from 'node:fs';
import type { LayerKind } from '../contract/mounted.ts';
import { type LayerPlace, packedAt } from './place.ts';

export interface MovedLayerSteps {
  /** Makes the empty directories of the layer. */
  make(kind: LayerKind): Promise<LayerPlace>;
  unpack(archive: string, dir: string): Promise<void>;
}

/** Makes a layer of what a backup brought for it, if that has not happened yet. Begins again after a crash. */
export async function openMovedLayer(place: LayerPlace, { make, unpack }: MovedLayerSteps): Promise<void> {
  for (const { kind, packed, files } of packedAt(place)) {
    if (!existsSync(packed)) continue;
    for (const dir of [files, place.work]) rmSync(dir, { recursive: true, force: true });
    await make(kind);
    // It is unpacked as the owner of the project, who cannot enter the directory but is given this file.
    const { uid, gid } = lstatSync(files);
    if (uid !== process.getuid?.()) lchownSync(packed, uid, gid);
    await unpack(packed, files);
    rmSync(packed);
  }
}
