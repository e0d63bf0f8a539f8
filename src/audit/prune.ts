import { type ChainedLine, follows, readChained } from './chain.ts';
import { ChainCheck } from './check.ts';
import { hashOf, listSegments, type PrunedTo, readPruned, type Segment, type SegmentsPruned } from './segments.ts';
import { logBackwards } from './tail.ts';

type Pruned = SegmentsPruned['pruned'];

/**
 * What can be removed of the segments of the days before `day`, in the order in which it is to be written and removed. What `verify`
 * finds false stays, and all after it: its removal would look like one that the log made. `open` is the name of the segment that
 * is written. Throws the error of the file system.
 */
export async function findRemovable(dir: string, key: Buffer, day: string, open: string): Promise<Pruned[]> {
  const segments = await listSegments(dir);
  const check = new ChainCheck(key);
  const removable: Segment[] = [];
  let seq = 0;
  let unconfirmed: Segment[] = [];
  for (const segment of segments) {
    const isOld = segment.day < day && segment.name !== open;
    if (!isOld && unconfirmed.length === 0) break;
    const before = check.reached;
    await (isOld ? check.segment(segment) : check.firstLine(segment));
    if (!check.isAsWritten(segment)) break;
    // The start of a segment says how the one before ended.
    if (check.reached.segments > before.segments) {
      removable.push(...unconfirmed);
      if (unconfirmed.length > 0) seq = before.seq;
      unconfirmed = [];
    }
    if (isOld) unconfirmed.push(segment);
  }
  if (removable.length === 0) return [];
  const unchained = segments.filter(({ name }) => check.unchained.has(name));
  for (const pruned of await prunedBefore(dir, key, check)) check.pruned(pruned);
  const faults = check.beginFaults(await hashOf(unchained));
  if (faults.length > 0 && !check.beginning.isUnchainedUnknown) return [];
  return inSteps(removable, unchained, { seq: Math.max(seq, check.beginning.prunedTo), check });
}

/** A file from before there was a chain goes alone, so that what is left is what the log says, or one file more. */
async function inSteps(
  removable: readonly Segment[],
  unchained: readonly Segment[],
  { seq, check }: { seq: number; check: ChainCheck },
): Promise<Pruned[]> {
  const steps: Pruned[] = [];
  let left = unchained;
  const hashOfLeft = async (): Promise<Pick<Pruned, 'unchained'>> =>
    check.beginning.isUnchainedUnknown && left.length > 0 ? {} : { unchained: await hashOf(left) };
  for (const { name } of removable.filter((segment) => unchained.includes(segment))) {
    left = left.filter((segment) => segment.name !== name);
    steps.push({ names: [name], seq: 0, ...(await hashOfLeft()) });
  }
  const names = removable.filter((segment) => !unchained.includes(segment)).map(({ name }) => name);
  return names.length === 0 ? steps : [...steps, { names, seq, ...(await hashOfLeft()) }];
}

/** What the log says of earlier removals, as far as `check` needs it, oldest first. */
async function prunedBefore(dir: string, key: Buffer, { beginning }: ChainCheck): Promise<PrunedTo[]> {
  if (!beginning.isLater && !beginning.hadUnchained) return [];
  const newestFirst: PrunedTo[] = [];
  let later: ChainedLine | null = null;
  for await (const line of logBackwards(dir)) {
    const chained = readChained(line);
    const pruned = later !== null && chained !== null && follows(key, chained.link, later) ? readPruned(later) : null;
    if (pruned !== null) newestFirst.push(pruned);
    // Each says all that the chain lacks at its beginning.
    if (pruned !== null && beginning.isLater) break;
    later = chained !== null && readPruned(chained) !== null ? chained : null;
  }
  return newestFirst.reverse();
}
