import { existsSync, readFileSync, writeSync } from 'node:fs';
import type { RawPath } from '../../../fs/raw-path.ts';
import { formatListing } from '../../contract/merge-listing.ts';
import type { ApplyReply, ListReply, MergeRequest, PatchReply, StatesReply } from '../../contract/merge-messages.ts';
import type { FileState } from '../../contract/snapshot-messages.ts';
import { ObjectStore } from '../../snapshots/inside/object-store.ts';
import { apply } from './apply.ts';
import { stateOfFile } from './content.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { commitsWithout, headsOf } from './repository.ts';

/*
 * Runs in a sandbox, as a command of the workspace does. It does one thing: the request is its input, the reply its output.
 * The places: the workspace, the files of a branch (read-only) and the contents that undo keeps (read-only).
 */

type Reply = ListReply | StatesReply | ApplyReply | PatchReply;

function main(): void {
  const [workspace = '', branch = '', storeDir = ''] = process.argv.slice(2);
  const store = existsSync(storeDir) ? new ObjectStore(storeDir, true) : null;
  const root = Buffer.from(workspace).toString('latin1');
  // Our own daemon wrote it.
  const request: MergeRequest = JSON.parse(readFileSync(0, 'utf8'));
  const reply = Buffer.from(JSON.stringify(answer(request, { text: workspace, root, branch, store })));
  for (let written = 0; written < reply.length; ) written += writeSync(1, reply, written);
}

interface Places {
  /** The workspace as a text and as a raw path. */
  readonly text: string;
  readonly root: RawPath;
  readonly branch: RawPath;
  readonly store: ObjectStore | null;
}

function answer(request: MergeRequest, places: Places): Reply {
  const { text, root, branch, store } = places;
  switch (request.do) {
    case 'list': {
      const listing = formatListing(list(root));
      if (request.heads === null) return { listing, heads: headsOf(text), commits: [] };
      return { listing, heads: [], commits: commitsWithout(text, request.heads) };
    }
    case 'states': {
      const saved = store === null || request.tree === '' ? null : savedStates(store, request.tree);
      return {
        now: request.paths.map((path) => stateOfFile(root, path)),
        saved: request.paths.map((path) => saved?.get(path) ?? null),
      };
    }
    case 'apply': {
      const steps = apply(request.ops, { root, branch, store });
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
      }
    }
    case 'patch':
      return patch(root, branch, request.paths, request.maxBytes);
  }
}

/** The files of a saved list. None if it is gone. */
function savedStates(store: ObjectStore, tree: string): Map<RawPath, FileState> | null {
  try {
    const lines = store.read(tree).toString().split('\n').filter(Boolean);
    return new Map(lines.map((line): [RawPath, FileState] => JSON.parse(line)));
  } catch {
    return null;
  }
}

main();
